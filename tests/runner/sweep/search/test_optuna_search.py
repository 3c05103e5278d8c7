"""The sweeper `optuna`: trials are ordinary runs, a repeated command goes on, and the best is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="the extra optuna is not installed")

from runner.config.overrides import parse
from runner.execution import signals
from runner.sweep.search.optuna_search import optuna_distribution
from runner.sweep.search.whole_keys import in_whole_numbers
from runner.tasks.sample import Sampling
from tests.support.commands import Call
from tests.support.searches import SEARCH, trials


def test_a_search_that_goes_on_is_one_that_never_stopped(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = call(*SEARCH, "hydra.sweeper.n_trials=4", "output_root=whole")
    assert whole.status == 0, whole.err
    assert len(trials(whole.out)) == 4
    advance = Sampling.advance

    def cut_short(work: Sampling) -> None:
        if len(list(tmp_path.glob("parts/runs/*/summary.json"))) == 4:
            raise signals.Interrupted("a test")
        advance(work)

    with monkeypatch.context() as patch:
        patch.setattr(Sampling, "advance", cut_short)
        stopped = call(*SEARCH, "hydra.sweeper.n_trials=4", "output_root=parts")
    assert stopped.status == signals.Interrupted.status
    rest = call(*SEARCH, "hydra.sweeper.n_trials=4", "output_root=parts")
    assert trials(stopped.out) + trials(rest.out) == trials(whole.out)

    summaries = [json.loads(path.read_text()) for path in tmp_path.glob("whole/runs/*/summary.json")]
    assert len(summaries) == 8
    best = min(float(line.split(" = ")[1].split()[0]) for line in trials(whole.out))
    assert f"Best of 4 trials: tv = {best:.6g}" in whole.out
    found = float(whole.out.split("sampler.step_size=")[-1].split()[0])
    own = [each["metrics"]["tv"] for each in summaries if each["settings"]["sampler.step_size"] == found]
    assert sum(own) / 2 == pytest.approx(best, rel=1e-5)

    again = call(*SEARCH, "hydra.sweeper.n_trials=4", "output_root=whole")
    assert trials(again.out) == []
    assert f"Best of 4 trials: tv = {best:.6g}" in again.out


def test_seeds_that_are_jobs_of_their_own_are_one_trial(call: Call) -> None:
    """A target of the seed is another one for each, such as a spin glass of couplings of its own."""
    words = ["target=spin_glass", "target.size=2", "target.instance_seed=${seed}", "hydra.sweeper.n_trials=2"]
    ended = call(*SEARCH, *words)
    assert (ended.status, len(trials(ended.out))) == (0, 2), ended
    found = [json.loads(path.read_text()) for path in Path("outputs").glob("runs/*/summary.json")]
    own = [each["metrics"]["tv"] for each in found]
    assert len(own) == 4
    values = [float(line.split(" = ")[1].split()[0]) for line in trials(ended.out)]
    assert sum(values) / 2 == pytest.approx(sum(own) / 4, rel=1e-5)
    assert trials(call(*SEARCH, *words).out) == []


def test_a_range_has_the_values_that_a_grid_of_it_has(call: Call) -> None:
    words = ["sampler.step_size=range(0.1,0.8,0.1)", "hydra.sweeper.n_trials=3", "output_root=whole"]
    assert call(*SEARCH, *words).status == 0
    tried = {
        json.loads(path.read_text())["settings"]["sampler.step_size"]
        for path in Path("whole").glob("runs/*/summary.json")
    }
    assert tried <= {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}
    (override,) = parse(["sampler.step_size=range(0.1,0.8,0.1)"])
    assert optuna_distribution(override).choices == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)  # type: ignore[attr-defined]


def test_the_ends_of_an_interval_of_whole_numbers_are_whole() -> None:
    (each,) = parse(["task.steps=tag(int,log,interval(0.5,5.5))"])
    found = optuna_distribution(each)
    assert (type(found).__name__, found.low, found.high, found.log) == ("IntDistribution", 1, 5, True)


def test_an_interval_of_a_key_of_whole_numbers_is_one_of_them() -> None:
    lines = ["target=bernoulli4", "sampler=dmala", "task.steps=100", "sampler.step_size=1.0"]
    given = parse(["task.steps=tag(log,interval(100,400))", "sampler.step_size=interval(1,3)"])
    found = in_whole_numbers({each.key_or_group: each for each in given}, lines)
    steps, size = (optuna_distribution(found[each.key_or_group]) for each in given)
    assert (type(steps).__name__, steps.low, steps.high, steps.log) == ("IntDistribution", 100, 400, True)
    assert type(size).__name__ == "FloatDistribution"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["output_root=a,b"], "output_root must be one folder for all jobs, 'output_root=a,b' was given."),
        (["++output_root=a,b"], "output_root must be one folder for all jobs, 'output_root=a,b' was given."),
        (["sampler.step_size=1"], "searches intervals or several values"),
        (["hydra.sweeper.n_trial=4"], "did you mean 'hydra.sweeper.n_trials'?"),
        (["hydra.sweeper.n_trials=0"], "hydra.sweeper.n_trials"),
        (["objective=tw"], "Unknown objective 'tw'. Allowed: tv."),
        (["metric=[acceptance]"], "metric of direction min or max"),
        (["hydra/launcher=joblib"], "hydra/launcher=basic"),
        (
            ["metric=tv,jump", "objective=tv"],
            "metric must be the same in all trials of a search, ",
        ),
        (
            ["objective=glob(t*)"],
            "objective must be the same in all trials of a search, ",
        ),
        (["task.steps=glob(1*)"], "'task.steps=glob(1*)' is a sweep over nothing."),
        (["seed=interval(0,5)"], "seed takes whole numbers, such as seed=0,1 or "),
        (["seed=glob(*)"], "'seed=glob(*)' was given."),
        (["sampler.step_size=interval(3,1)"], "from a smaller to a larger number"),
        (
            ["sampler.step_size=interval(1,inf)"],
            "'sampler.step_size=interval(1,inf)' must have two finite ends.",
        ),
        (["sampler.step_size=tag(Log,interval(1,2))"], "The tags of an interval are int and log, "),
        (["task.steps=tag(int,interval(1.5,1.9))"], "must hold two whole numbers or more."),
        (["sampler=dmalla"], "did you mean 'dmala'?"),
        (["seed=range(0,1000000000)"], "must be a range of at most 100,000 values."),
        (["task.steps=range(1,1000000000)"], "must be a range of at most 100,000 values."),
        (["task.steps=range(1,3),7"], "is the only value of its key, 'task.steps=range(1,3),7' was given; "),
    ],
)
def test_a_search_that_cannot_be_is_refused(words: list[str], sentence: str, call: Call) -> None:
    ended = call(*SEARCH, *words)
    assert (ended.status, len(ended.err.splitlines())) == (2, 1), ended
    assert sentence in ended.err
    assert not Path("outputs").exists() or not list(Path("outputs").glob("runs/*/metrics.csv"))
