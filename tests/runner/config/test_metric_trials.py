"""A metric of one's own is tried before a run where its draws cannot be made yet, too."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from runner.config.compose import compose
from runner.config.construct import locate
from runner.execution.errors import UserError
from runner.problem.build import build
from runner.problem.metric_directions import metric_direction
from runner.problem.trials import check_metrics
from samplers import Gibbs, Info, State
from targets import Target
from tests.support.commands import Call, refused

METRICS = """
from metrics.metric import Metric


class Far(Metric):
    name, unit, saved = "far", "bits", ("last",)

    def __init__(self, context, wrong=False):
        super().__init__(context)
        self.wrong = wrong
        self.last = context.target.like().new_zeros(context.seeds)

    def update(self, step, theta, info):
        reference = getattr(self.context.target, "reference", theta[0, :1])
        self.last.copy_((theta.mean((1, 2)) - reference[0].mean()) * info.acceptance.mean(-1))

    def result(self):
        return {"far": self.last.mean() if self.wrong else self.last}
"""

FAR = "+metric.far._target_=far_metric.Far"
WRONG = "+metric.far.wrong=true"
SAID = r"metric: the metric far must give one number per seed \(2\), far has the shape \(\)."


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "far_metric.py").write_text(METRICS)
    monkeypatch.syspath_prepend(str(tmp_path / "home"))
    monkeypatch.delitem(sys.modules, "far_metric", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a refused command leaves no other file


@pytest.mark.parametrize("sampler", ["dmala", "ground_truth_draws"])
def test_before_the_model_is_trained(call: Call, sampler: str) -> None:
    run = f"target=rbm target.dataset=digits target.n_hidden=8 sampler={sampler} metric=energy task.chains=2"
    assert SAID.replace("\\", "") in refused(call, *run.split(), FAR, WRONG)
    assert not Path("outputs/models").exists()
    assert call(*run.split(), FAR, "--dry-run").status == 0


class Unsteady(Gibbs):
    """A kernel that cannot step before it is tuned."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Any) -> tuple[State, Info]:
        raise RuntimeError("not tuned yet")


class Laddered(Unsteady):
    axes = (2,)


def test_before_the_sampler_is_tuned() -> None:
    given = ["target=bernoulli4", "sampler=gibbs", "metric=tv", "task.start=uniform", FAR]
    for more in ([], [WRONG]):
        problem = build(compose([*given, *more]))
        check_metrics(replace(problem, kernel=Laddered()))  # what its Info holds is not known
        if not more:
            check_metrics(replace(problem, kernel=Unsteady()))
            continue
        with pytest.raises(UserError, match=SAID):
            check_metrics(replace(problem, kernel=Unsteady()))


MADE = """
from far_metric import Far


class Near(Far):
    direction = "min"


def made(context) -> Near:
    return Near(context)


def unsaid(context):
    return Near(context)
"""


def test_a_metric_made_by_a_function_has_the_direction_of_what_it_says_to_return(tmp_path: Path) -> None:
    (tmp_path / "home" / "made_metric.py").write_text(MADE)
    for name in ("Near", "made"):
        assert metric_direction("far", f"made_metric.{name}") == "min"
    for name in ("unsaid", "MADE", "far_metric"):
        assert metric_direction("far", f"made_metric.{name}") == "none"


NEEDS = """
from far_metric import Far


class Needs(Far):
    def __init__(self, context):
        if context.chains < 4:
            raise ValueError(f"needs at least 4 chains, there are {context.chains}")
        super().__init__(context)
"""


def test_a_metric_that_needs_several_chains_gets_those_of_the_run(call: Call, tmp_path: Path) -> None:
    (tmp_path / "home" / "needing_metric.py").write_text(NEEDS)
    run = ["target=bernoulli4", "sampler=gibbs", "metric=tv", "task.steps=20"]
    needs = "+metric.far._target_=needing_metric.Needs"
    assert "there are 3." in refused(call, *run, needs, "task.chains=3")
    ended = call(*run, needs, "task.chains=5")
    assert (ended.status, ended.err) == (0, "")
    with pytest.raises(UserError, match="there are 3"):
        check_metrics(build(compose([*run, needs, "task.chains=3"])))
    # Of ours: two chains have an overlap, one has none.
    overlap = ["target=ising", "sampler=gibbs", "metric=overlap", "task.steps=20"]
    assert "overlap needs two chains or more" in refused(call, *overlap, "task.chains=1")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("direction", "lower", "'min', 'max' or None as its direction, 'lower' was given"),
        ("direction", False, "'min', 'max' or None as its direction, False was given"),
        ("bounds", 1.0, "a pair of its least and its largest value as its bounds, 1.0 was given"),
        ("bounds", (0, None), r"as its bounds, \(0, None\) was given"),
        ("bounds", (1.0, 0.0), r"as its bounds, \(1.0, 0.0\) was given"),
    ],
)
def test_what_tables_read_of_the_class(key: str, value: object, said: str) -> None:
    """Even where no step can be tried: the table would fail after the work."""
    problem = build(compose(["target=bernoulli4", "sampler=gibbs", "metric=tv", "task.start=uniform", FAR]))
    cls = locate("far_metric.Far", "metric.far._target_")
    setattr(cls, key, value)
    for kernel in (Gibbs(), Laddered()):
        with pytest.raises(UserError, match=f"^metric: the metric far must have .*{said}"):
            check_metrics(replace(problem, kernel=kernel))
    assert metric_direction("far", "far_metric.Far") == "none"


def test_the_model_keeps_its_empty_reference_sample() -> None:
    config = compose(["target=rbm", "target.dataset=digits", "sampler=dmala", "metric=energy", FAR])
    problem = build(config)
    check_metrics(problem)
    assert torch.equal(problem.target.held_out, torch.zeros(0, 64))
