"""A metric of one's own is tried before the chains run: what it gives, what it changes, what it saves."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from metrics.metric import Context, Metric, Statistic
from metrics.suite import MetricSuite
from metrics.trial import of_first_seed, try_metric
from samplers import Gibbs, Info, ParallelTempering
from targets import Bernoulli4, Streams


class Share(Metric):
    """Mean share of ones over all draws; `wrong` spoils one of the things that a metric must do."""

    name = "share"
    unit = "share"
    saved = ("total", "steps")
    wrong = ""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.total = torch.zeros(context.seeds, dtype=torch.float64)
        self.steps = 0

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        if self.wrong == "in place":
            theta.zero_()
        if self.wrong == "fails":
            raise RuntimeError("no room")
        if self.wrong == "global":
            torch.rand(1)
        self.total += theta.double().mean((1, 2))
        self.steps += 1

    def result(self) -> dict[str, Tensor]:
        value: Any = self.total / self.steps
        given: dict[str, Any] = {
            "bare": value,
            "float": {"share": 0.5},
            "shape": {"share": value.mean()},
            "name of the run": {"evaluations": value},
            "name of a setting": {"seed": value},
            "key of a setting": {"sampler.step_size": value},
            "raises": None,
        }
        if self.wrong == "raises":
            raise KeyError("nothing")
        if self.wrong == "unpacks":
            _, _ = value[:1]
        found: dict[str, Tensor] = given.get(self.wrong, {"share": value})
        return found


class NotSaved(Share):
    saved = ()


class SavedWrongly(Share):
    saved = ("total", "count")


def tried(cls: type[Metric]) -> None:
    """What the runner does: draws of three steps of two seeds with three chains."""
    target, kernel, one = Bernoulli4(), Gibbs(), torch.ones(())
    streams = Streams([0, 1], "trial")
    state, draws = kernel.init(target, target.initial((2, 3), streams), one), []
    for _ in range(3):
        state, info = kernel.step(target, state, one, streams)
        draws.append((kernel.draws(state), info))

    def make(seeds: int = 2) -> MetricSuite:
        return MetricSuite(Context(target, kernel, seeds, 3, torch.device("cpu")), {"mine": cls})

    try_metric("mine", make, draws, lambda: make(1))


def test_a_metric_that_does_what_it_must_passes() -> None:
    tried(Share)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("bare", "metric mine must give its values by name, not a Tensor$"),
        ("float", r"must give one number per seed \(2\), share is 0.5$"),
        ("shape", r"must give one number per seed \(2\), share has the shape \(\)$"),
        ("name of the run", "must give another name to its value evaluations"),
        ("name of a setting", "must give another name to its value seed, which is the run's own$"),
        ("key of a setting", "must give another name to its value sampler.step_size"),
        ("raises", r"fails in result with KeyError: 'nothing' \(test_trial.py, line \d+\)$"),
        ("unpacks", r"fails in result with ValueError: not enough values.*\(test_trial.py, line \d+\)$"),
        ("fails", r"fails in update with RuntimeError: no room \(test_trial.py, line \d+\)$"),
        ("in place", "must not change the draws that it is given in update$"),
        ("global", "draws from torch's global generator; its random numbers must come from Context"),
    ],
)
def test_what_a_metric_must_not_do(wrong: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Share, "wrong", wrong)
    with pytest.raises(ValueError, match=f"^[Tt]he (metric|metrics) .*{said}|^the {said}"):
        tried(Share)


def test_a_metric_that_a_checkpoint_does_not_hold_is_refused() -> None:
    """Resumed, it would go on with the draws since then alone."""
    with pytest.raises(ValueError, match=r"must go on from a checkpoint: .* saved must name all"):
        tried(NotSaved)
    with pytest.raises(ValueError, match=r"cannot be saved and read back: AttributeError: .*'count'"):
        tried(SavedWrongly)


class Crossings(Share):
    """How often the first bit was set anew; on few draws the bit before hardly ever matters."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.before = torch.full((context.seeds, context.chains), -1.0)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        self.total += (self.before < 0).double().mean(-1) if step == 100 else 0.0
        self.before = theta[..., 0]
        self.steps += 1


class Growing(Statistic):
    """A statistic that forgets to save its sum."""

    total = 0.0

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        self.total += 1.0


class OfGrowing(Share):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        context.statistic(Growing)


def test_an_attribute_that_is_not_saved_is_refused_where_the_draws_do_not_show_it() -> None:
    with pytest.raises(ValueError, match=r"read back it has another before; its attribute saved must name"):
        tried(Crossings)
    with pytest.raises(ValueError, match=r"another total; Growing's attribute saved must name all"):
        tried(OfGrowing)


class Mixed(Share):
    """Its value is the mean over the seeds."""

    name = "mixed"

    def result(self) -> dict[str, Tensor]:
        return {"share": (self.total.mean() / self.steps).expand(self.context.seeds)}


def test_a_metric_that_mixes_seeds_is_refused() -> None:
    """The result of a run would depend on what is computed beside it."""
    with pytest.raises(ValueError, match=r"^the metric mine must give a seed the same value"):
        tried(Mixed)


class Halved(Share):
    """Its result divides what it has added up; `idempotent` does so once alone between two updates."""

    idempotent = False
    fresh = True

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        super().update(step, theta, info)
        self.fresh = True

    def result(self) -> dict[str, Tensor]:
        if self.fresh or not self.idempotent:
            self.total /= 2
        self.fresh = False
        return super().result()


@pytest.mark.parametrize("idempotent", [False, True])
def test_a_metric_whose_result_changes_what_it_accumulates_is_refused(
    idempotent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it gives at the end would depend on how often a run is recorded."""
    monkeypatch.setattr(Halved, "idempotent", idempotent)
    with pytest.raises(ValueError, match=r"^the metric mine must not change in result what it accumulates: "):
        tried(Halved)


def test_what_all_of_an_info_says_is_that_of_the_first_seed() -> None:
    target, streams, one = Bernoulli4(), Streams([0, 1], "trial"), torch.ones(())
    kernel = ParallelTempering(Gibbs(), [1.0, 0.5, 0.2])
    _, info = kernel.step(target, kernel.init(target, target.initial((3, 2, 4), streams), one), one, streams)
    part = of_first_seed(info)
    assert part.swap is not None
    assert part.rungs is not None
    assert info.rungs is not None
    assert [part.acceptance.shape, part.rungs.shape, part.swap.replica.shape] == [
        (1, 4),
        (3, 1, 4),
        (3, 1, 4),
    ]
    assert torch.equal(part.rungs[:, 0], info.rungs[:, 0])


def test_two_metrics_with_a_value_of_one_name_are_both_named() -> None:
    suite = MetricSuite(
        Context(Bernoulli4(), Gibbs(), 1, 1, torch.device("cpu")), {"mine": Share, "yours": Share}
    )
    suite.updates = 1
    with pytest.raises(ValueError, match=r"^the metrics mine and yours both give a value named share$"):
        suite.result()
