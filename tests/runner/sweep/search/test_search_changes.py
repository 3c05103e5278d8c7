"""A search that is repeated after its files, metrics or runs have changed: no value of before counts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="the extra optuna is not installed")

from metrics.discrepancy.tv import TV
from tests.support.commands import Call, one
from tests.support.searches import SEARCH, trials

CUT = [
    "-m",
    "hydra/sweeper=optuna",
    "hydra.sweeper.n_trials=2",
    "scale=smoke",
    "target=maxcut",
    "target.file=graph.txt",
    "sampler=gibbs",
    "task.steps=20",
    "metric=[best_log_prob]",
    "target.scale=1.0",
    "task.chains=tag(int,interval(2,9))",
]


def best(said: str) -> float:
    """The value that a search prints of its best trial."""
    return float(said.split("Best of ")[1].split(" = ")[1].split()[0])


def test_a_search_after_an_edit_of_a_file_measures_its_trials_anew(call: Call) -> None:
    Path("graph.txt").write_text("0 1\n1 2\n2 0\n")
    first = call(*CUT)
    assert (first.status, best(first.out)) == (0, 2.0), first
    Path("graph.txt").write_text("0 1\n1 2\n2 3\n3 0\n0 4\n")
    second = call(*CUT)
    assert second.err.startswith(
        f"warning: the journal {one('optuna/*[!1].log')} has results of 2 trials that"
    )
    assert (second.status, len(trials(second.out)), best(second.out)) == (0, 2, 5.0)
    assert [each.split(" with ")[1] for each in trials(first.out)] == [
        each.split(" with ")[1] for each in trials(second.out)
    ]
    third = call(*CUT)
    assert (third.status, third.err, trials(third.out), best(third.out)) == (0, "", [], 5.0)


def test_a_search_whose_runs_are_gone_computes_them(call: Call) -> None:
    two = [*SEARCH, "hydra.sweeper.n_trials=2"]
    whole = call(*two)
    shutil.rmtree("outputs/runs")
    again = call(*two)
    assert (again.status, again.out) == (0, whole.out)
    assert "has results of 2 trials that their runs do not have (any more)" in again.err


def test_a_search_whose_metric_is_better_the_other_way_is_another_one(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = [*SEARCH, "hydra.sweeper.n_trials=2"]
    least = call(*two)
    values = [float(each.split()[2]) for each in trials(least.out)]
    assert best(least.out) == min(values) < max(values)
    monkeypatch.setattr(TV, "direction", "max")
    assert best(call(*two).out) == max(values)
