"""Damage to a file is found and mended, or does no harm; it is never silent, and no run fails for ever."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.corruption import measure
from tests.corruption.damage import DAMAGES, damaged
from tests.corruption.stores import STORES
from tests.corruption.trials import FOUND, HARMLESS, Damaged, trials

FEW = ("finished run", "tuned", "cut sampling")
"""Stores whose trials take tenths of a second; `slow` tests have them all."""


def test_every_way_of_damage_changes_a_file() -> None:
    chance, content = random.Random(0), bytes(range(256)) * 4
    for damage in DAMAGES.values():
        assert any(damage(content, chance) != content for _ in range(5))
    assert {damaged(content, chance)[0] for _ in range(200)} == set(DAMAGES)


@pytest.mark.parametrize("name", FEW)
def test_damage_is_found_or_harmless(name: str) -> None:
    kinds = list(STORES[name].kinds)
    done = list(trials(kinds, 1, seed=1))
    assert {trial.kind for trial in done} == set(kinds)
    for trial in done:
        assert trial.outcome in (FOUND, HARMLESS), trial
        assert trial.verified or trial.outcome != FOUND, trial


def test_a_reader_that_looks_away_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: with the digests of a run's files left unread, a flipped bit is silent."""
    monkeypatch.setattr("runner.store.run_folder.changed", lambda folder, expected: [])
    subject = Damaged(STORES["finished run"], tmp_path)
    assert subject.trial("metrics.csv", random.Random(0)).outcome not in (FOUND, HARMLESS)


@pytest.mark.slow
def test_three_hundred_damages_of_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert measure.main(["--number", "300"]) == 0, capsys.readouterr().out
