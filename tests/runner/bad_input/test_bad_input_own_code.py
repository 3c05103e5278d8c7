"""What is refused of a user's own sampler and target: one sentence, before any work."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from runner.sweep.jobs import jobs_of, requested
from runner.sweep.preflight import preflight
from tests.support.commands import Call, refused_before_any_run

CODE = """
import torch
from metrics.metric import Metric
from samplers.discrete.gibbs import Gibbs
from samplers.metropolis_hastings import MetropolisHastings
from targets.spaces import Binary
from targets.target import Target


class Ring(Target):
    def __init__(self, d: int = 4, coupling: float = 0.5, field: float | None = None) -> None:
        super().__init__()
        self.space, self.coupling = Binary(d), coupling

    def log_prob(self, theta):
        return torch.as_tensor(self.coupling).to(theta) * theta.sum(-1)


class Nan(Ring):
    pass


class Null(Ring):
    pass


class Rated(Gibbs):
    def __init__(self, rate: float = 0.1, times: int | None = 1, names: float | list[float] = 0.0) -> None:
        if not 0 < rate < 1:
            raise ValueError(f"rate must lie between 0 and 1, {rate} was given")
        super().__init__()


class Power(Metric):
    name = "power"

    def __init__(self, context, power: float = 1.0) -> None:
        super().__init__(context)

    def update(self, step, theta, info):
        self.last = theta.mean((-2, -1))

    def result(self):
        return {"power": self.last}


class Bare(MetropolisHastings):
    def __init__(self) -> None:
        pass


def made():
    return Ring()


def walks():
    return Gibbs()


class Forgets(Gibbs):
    def __init__(self, step_size: float = 0.5, down: float = 2.0) -> None:
        super().__init__()
        self.step_size = step_size


class Tuned(Forgets):
    def __init__(self, step_size: float, down: float = 2.0) -> None:
        super().__init__(step_size)
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module `own_code`."""
    (tmp_path / "own_code.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize("tempering", ["parallel", "simulated", "annealed"])
def test_a_kernel_that_does_not_keep_an_argument_cannot_be_tuned_inside_a_ladder(tempering: str) -> None:
    own = "target=bernoulli4 sampler._target_=own_code.Tuned"
    said = refused_before_any_run(own, f"tempering={tempering}")
    assert "kernel must keep its constructor's argument down as an attribute" in said


def test_with_a_ladder_of_numbers_it_needs_not_keep_them() -> None:
    own = "target=bernoulli4 sampler._target_=own_code.Forgets tempering=parallel"
    preflight(jobs_of(requested([*own.split(), "tempering.ladder=[1,0.5]", "metric=tv"], multirun=False)))


RATED = "target=bernoulli4 sampler._target_=own_code.Rated"
RING = "sampler=gibbs metric=jump target._target_=own_code.Ring"
NUMBERS = [
    (
        "target=ising sampler=gibbs target.coupling=nan",
        "target.coupling must be a finite number, nan was given.",
    ),
    (f"{RING} +target.coupling=nan", "target.coupling must be a number, nan was given."),
    (f"{RING} +target.coupling=big", "target.coupling must be a number, 'big' was given."),
    (f"{RING} +target.d=big", "target.d must be a whole number, 'big' was given."),
    (f"{RING} +target.d=3.5", "target.d must be a whole number, 3.5 was given."),
    (f"{RING} +target.field=[1]", "target.field must be null or a number, [1] was given."),
    (f"{RATED} +sampler.rate=big", "sampler.rate must be a number, 'big' was given."),
    (
        f"{RATED} metric=tv metric.tv._target_=own_code.Power +metric.tv.power=two",
        "metric.tv.power must be a number, 'two' was given.",
    ),
    (f"{RATED} +sampler.rate=true", "sampler.rate must be a number, True was given."),
    (f"{RATED} +sampler.rate=auto", "sampler.rate must be a number, 'auto' was given."),
    (f"{RATED} +sampler.rate=2", "sampler.rate must lie between 0 and 1, 2.0 was given."),
    (f"{RATED} +sampler.times=two", "sampler.times must be null or a whole number, 'two' was given."),
    (
        "target=bernoulli4 sampler._target_=own_code.Forgets +sampler.step_size=big",
        "sampler.step_size must be a number or 'auto', 'big' was given.",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), NUMBERS, ids=[given for given, _ in NUMBERS])
def test_what_is_no_number_is_refused_where_the_constructor_asks_for_one(given: str, sentence: str) -> None:
    assert refused_before_any_run(given) == sentence


@pytest.mark.parametrize(
    "given", ["+sampler.rate=0.5", "+sampler.times=null", "+sampler.names=[1,2]", "+sampler.times=2.0"]
)
def test_what_the_constructor_takes_is_not_refused(given: str) -> None:
    preflight(jobs_of(requested([*RATED.split(), "metric=tv", given], multirun=False)))


def test_a_step_size_of_a_users_own_may_be_auto() -> None:
    own = "target=bernoulli4 sampler._target_=own_code.Forgets metric=tv +sampler.step_size=auto"
    preflight(jobs_of(requested(own.split(), multirun=False)))


@pytest.mark.parametrize("name", ["Nan", "Null"])
def test_a_class_may_be_called_by_a_word_that_is_a_value(name: str) -> None:
    own = ["sampler=gibbs", "metric=jump", f"target._target_=own_code.{name}"]
    (job,) = jobs_of(requested(own, multirun=False))
    assert job.config.target.name == name
    preflight([job])


@pytest.mark.parametrize("tempering", ["none", "parallel"])
def test_a_kernel_that_does_not_call_the_constructor_of_its_base_is_told_so(tempering: str) -> None:
    own = f"target=bernoulli4 sampler._target_=own_code.Bare tempering={tempering}"
    assert refused_before_any_run(own) == (
        "The sampler own_code.Bare must call super().__init__() in its __init__, since that sets 'proposal'."
    )


PLACES = [
    ("target._target_=own_package.rings.Ring", "own_package has no 'rings'; did you mean 'ring'?"),
    (
        "target._target_=own_pakcage.ring.Ring",
        "there is no module 'own_pakcage' here; did you mean 'own_package'?",
    ),
    ("target._target_=own_code.Rnig", "own_code has no 'Rnig'; did you mean 'Ring'?"),
    (
        "target._target_=own_code.made",
        "a function must be annotated with what it returns, as in def made(...) -> Target.",
    ),
    ("target=bernoulli4 sampler._target_=own_code.walks", "as in def walks(...) -> Kernel."),
]


@pytest.mark.parametrize(("given", "ends"), PLACES, ids=[given for given, _ in PLACES])
def test_a_class_that_is_not_there_is_refused_with_the_nearest(tmp_path: Path, given: str, ends: str) -> None:
    package = tmp_path / "own_package"
    package.mkdir()
    for name in ("__init__", "ring"):
        (package / f"{name}.py").touch()
    importlib.invalidate_caches()
    assert refused_before_any_run("metric=jump", given).endswith(ends)
