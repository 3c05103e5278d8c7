"""Sweeps on disks that refuse or have no `flock`: nothing lost, doubled or silent, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.robustness import file_systems, workers
from tests.robustness.sweeps import RUNS, Said, judged


@pytest.mark.parametrize(
    ("status", "said", "outcome"),
    [
        (1, "Traceback (most recent call last):", "traceback"),
        (0, "12 runs done.", "silent"),
        (1, "", "silent"),
        (1, "error: something else", "silent"),
        (1, "No space is left\n13 runs done.", "doubled"),
        (1, "No space is left\n0 runs done.", "lost"),
        (None, "it hung", "silent"),
    ],
)
def test_power_a_sweep_that_ends_otherwise_is_not_clean(
    status: int | None, said: str, outcome: str, tmp_path: Path
) -> None:
    trial = judged("x", tmp_path, {"run": []}, [Said(status, said)], lambda: Said(1, ""), ["No space"])
    assert trial.outcome == outcome


def test_power_runs_that_are_missing_after_the_repetition_are_lost(tmp_path: Path) -> None:
    expected = {str(number): [] for number in range(RUNS)}
    trial = judged("x", tmp_path, expected, [Said(1, "No space")], lambda: Said(0, ""))
    assert trial.outcome == "lost"


@pytest.mark.slow
@pytest.mark.parametrize("kind", file_systems.KINDS)
def test_twenty_trials_of_every_kind(kind: str) -> None:
    bad = [trial for trial in file_systems.trials(20, kind, seed=1) if trial.outcome != "clean"]
    assert not bad


@pytest.mark.slow
@pytest.mark.parametrize("kind", workers.KINDS)
def test_ten_killed_workers(kind: str) -> None:
    trials = list(workers.trials(10, kind))
    assert len(trials) == 10
    assert {trial.outcome for trial in trials} == {"clean"}, trials
