"""Trials of a search that are not measured: they are asked again, and what diverged is infinitely bad."""

from __future__ import annotations

import errno
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="the extra optuna is not installed")

from runner.execution.errors import UserError
from runner.files.atomic_files import read_json, write_json
from runner.files.locks import Lock
from runner.store import run_locks
from runner.tasks.sample import NotANumberError, Sampling
from runner.tasks.sample_task import Sample
from tests.support.commands import Call, refused
from tests.support.searches import SEARCH, trials

TWO = [*SEARCH, "hydra.sweeper.n_trials=2"]


def full_disk(work: Sampling) -> Exception:
    return OSError(errno.ENOSPC, "No space left on device", "outputs/runs/a/metrics.csv")


def not_a_number(work: Sampling) -> Exception:
    return NotANumberError("T", 1, list(work.seeds))


def failing(
    monkeypatch: pytest.MonkeyPatch, error: Callable[[Sampling], Exception], calls: int
) -> pytest.MonkeyPatch:
    """Lets the first runs that are computed fail, as many as `calls`; those of a job are one."""
    advance, seen = Sampling.advance, list[int]()

    def failed(work: Sampling) -> None:
        if work.step == 0:
            seen.append(1)
            if len(seen) <= calls:
                raise error(work)
        advance(work)

    monkeypatch.setattr(Sampling, "advance", failed)
    return monkeypatch


def sought(said: str) -> list[str]:
    """The parameters of the trials, in their order."""
    return [line.split(" with ")[1] for line in trials(said)]


def test_a_trial_that_failed_is_computed_by_the_next_command(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        failing(patch, full_disk, 1)
        first = call(*TWO)
    assert first.status == 1
    assert trials(first.out)[0].startswith("failed, no tv with sampler.step_size=")
    assert "Best of 1 trials: tv = " in first.out
    second = call(*TWO)
    assert (second.status, second.err) == (0, "")
    assert sought(second.out) == sought(first.out)[:1]
    assert "Best of 2 trials: tv = " in second.out
    whole = call(*TWO, "output_root=whole")
    assert trials(second.out) + trials(first.out)[1:] == trials(whole.out)


def test_fail_fast_ends_a_search_with_the_first_trial_that_failed(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        failing(patch, full_disk, 1)
        ended = call(*TWO, "sweep.fail_fast=true")
    assert ended.status == 1
    assert [line.split(",")[0] for line in trials(ended.out)] == ["failed"]
    assert len(trials(call(*TWO).out)) == 2, "how a command goes on makes no other search"
    said = refused(call, *TWO, "sweep.fail_fast=2")
    assert said == "error: sweep.fail_fast must be true or false, 2 was given.\n"


def test_a_search_without_a_finite_value_says_so(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        failing(patch, full_disk, 2)
        ended = call(*TWO)
    assert ended.status == 1
    assert "Best of" not in ended.out
    said = "error: No trial of the search has a finite tv; repeat the command to compute what is missing.\n"
    assert ended.err.endswith(said)
    assert sought(call(*TWO).out) == sought(ended.out)


def test_a_trial_whose_chains_met_nan_is_infinitely_bad(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        failing(patch, not_a_number, 2)
        first = call(*TWO)
    assert (first.status, [line.split(" with ")[0] for line in trials(first.out)]) == (1, ["tv = inf"] * 2)
    said = "error: No trial of the search has a finite tv; search other values.\n"
    for _ in range(2):
        second = call(*TWO)
        assert (second.status, second.out, second.err) == (1, "", said)
        for path in Path("outputs").glob("runs/*/failure.json"):  # as an earlier version wrote it
            content = read_json(path) or {}
            write_json(path, {key: content[key] for key in content if key != "diverged"})


LEARNING = (
    *("-m", "hydra/sweeper=optuna", "hydra.sweeper.n_trials=3", "scale=smoke", "task=learn", "target=rbm"),
    *("target.dataset=digits", "target.n_hidden=4", "sampler=rbm_gibbs", "task.iterations=5", "seed=0"),
    *("task.ais.temperatures=5", "task.ais.chains=4", "dtype=float32"),
)


def test_a_trial_whose_training_diverged_is_infinitely_bad(call: Call) -> None:
    """It would at each repeat, and the search would ask for nothing else."""
    ended = call(*LEARNING, "task.learning_rate=tag(log,interval(1e-20,1e38))")
    found = [line.split(" with ")[0] for line in trials(ended.out)]
    assert len(found) == 3
    assert set(found) > {"log_likelihood = -inf"}
    assert "Training stopped at iteration" in ended.err
    assert "Best of 3 trials: log_likelihood = -" in ended.out
    again = call(*LEARNING, "task.learning_rate=tag(log,interval(1e-20,1e38))")
    assert (again.status, trials(again.out)) == (0, [])


def test_a_trial_that_is_refused_does_not_end_a_search(call: Call) -> None:
    words = [*SEARCH, "task.burn_in=tag(int,interval(1,80))", "hydra.sweeper.n_trials=4"]
    first = call(*words)
    assert (first.status, first.err) == (0, "")
    assert [each.split(" ")[0] for each in trials(first.out)] == ["refused,", "refused,", "tv", "refused,"]
    places = [each.split(": task.burn_in must be ")[0] for each in trials(first.out)[:2]]
    assert places[0].startswith("refused, no tv with sampler.step_size=")
    assert places[0] != places[1]
    assert "Best of 1 trials: tv = " in first.out
    again = call(*words)
    assert (again.status, again.out) == (0, "".join(first.out.splitlines(keepends=True)[4:]))
    more = call(*words[:-1], "hydra.sweeper.n_trials=5")
    assert (more.status, len(trials(more.out))) == (0, 1)


def test_a_trial_that_is_refused_no_longer_is_asked_again(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(task: Sample, config: object, problems: object) -> None:
        if next(tries) > 0:
            raise UserError("Not now.")

    with monkeypatch.context() as patch:
        tries = count()
        patch.setattr(Sample, "check", refuse)
        ended = call(*TWO)
        assert (ended.status, ended.err) == (2, "error: Not now.\n")
        assert len(trials(ended.out)) == 2
        tries = count()
        assert call(*TWO).err == ended.err, "the reason is kept"
    second = call(*TWO)
    assert (second.status, len(trials(second.out))) == (0, 2)
    assert trials(second.out) == trials(call(*TWO, "output_root=whole").out)


def test_a_run_of_another_process_has_no_value(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = call(*TWO)
    for path in [*Path("outputs/optuna").glob("*.log"), *Path("outputs/runs").glob("*/summary.json")]:
        path.unlink()
    taken = [Lock(path) for path in Path("outputs/runs").glob("*/lock")]
    assert all(lock.take() for lock in taken)
    monkeypatch.setattr(run_locks, "PROBE_SECONDS", 0.0)
    first = call(*TWO)
    for lock in taken:
        lock.release()
    assert (first.status, sought(first.out)) == (3, sought(whole.out))
    assert all(line.startswith("left to another process, no tv") for line in trials(first.out))
    second = call(*TWO)
    assert (second.status, second.out) == (0, whole.out)


def test_a_trial_that_lacks_the_objective_is_refused_before_it_begins(call: Call) -> None:
    """By a metric that is optional; so is a trial of a W&B sweep. The first one is one that is measured."""
    lattice = ("sampler=gibbs", "target=ising", "scale=smoke", "task.steps=20", "task.chains=2")
    said = "objective must name a metric that is measured, 'tv' was given, which target=ising with sampler="
    assert said in refused(call, *lattice, "objective=tv")
    search = ("-m", "hydra/sweeper=optuna", *lattice, "task.record=1,2", "hydra.sweeper.n_trials=2")
    ended = call(*search, "objective=tv")
    assert (ended.status, trials(ended.out)) == (2, [])
    assert said in ended.err
    assert not list(Path("outputs").glob("runs/*"))
    assert call(*lattice, "objective=ess").status == 0
    assert [each.split(" = ")[0] for each in trials(call(*search).out)] == ["ess", "ess"]
