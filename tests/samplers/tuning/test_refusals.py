"""Settings that are refused, in one sentence that names the key, the value and what is allowed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

from samplers import (
    AB,
    ACS,
    DMALA,
    DULA,
    EDMALA,
    EDMALAGLU,
    EDULA,
    EDULAGLU,
    MALA,
    PAS,
    ULA,
    BlockGibbs,
    DMALANewton,
    ExactDraws,
    GaussianWalk,
    Gibbs,
    Kernel,
    ParallelTempering,
    RandomWalk,
    ReleasedDMALA,
    ReplicaExchangeLangevin,
    SimulatedAnnealing,
    SimulatedTempering,
    configured,
    geometric_ladder,
)
from targets import Binary, GaussianMixture
from tests.support.error_message import error_message
from tests.support.targets.small_targets import random_target, small_rbm
from tests.support.tunable import tunable

NAN, INF = float("nan"), float("inf")
PT, ST, RELD = ParallelTempering, SimulatedTempering, ReplicaExchangeLangevin
POSITIVE = (0, -1.0, NAN, INF, "wide", True, [1.0])

ALONE: list[tuple[type[Kernel], dict[str, Any], str]] = [
    *((cls, {"step_size": value}, "^step_size must be a positive number or 'auto', .* was given$")
      for cls in (DMALA, DULA, MALA, ULA, GaussianWalk, AB) for value in POSITIVE),
    *((cls, {"acceptance": value}, "^acceptance must be a number from 0.01 to 0.99, .* was given$")
      for cls in (DMALA, MALA, GaussianWalk, AB) for value in (0, 1, NAN, "high", True)),
    (DMALA, {"balancing": 1.5}, "^balancing must be a number from 0 to 1"),
    (DULA, {"norm": 0.5}, "^norm must be a number from 1 to 8"),
    *((AB, {"balancing": value}, f"^balancing must be a number from 0.5 to 1 or 'auto', {value!r} was given$")
      for value in (0.49, 1.01, NAN, "half", True, None)),
    *((ACS, {"steps": 100, key: value}, f"^{key} must be a positive number or 'auto', .* was given$")
      for key in ("step_size", "min_step_size") for value in POSITIVE),
    (ACS, {}, "^steps or cycle_length must be given, neither was$"),
    (ACS, {"steps": 0}, "^steps must be a whole number of at least 1, 0 was given$"),
    (ACS, {"steps": 10.5}, "^steps must be a whole number of at least 1, 10.5 was given$"),
    (ACS, {"steps": 100, "cycles": 0}, "^cycles must be a whole number of at least 1, 0 was given$"),
    (ACS, {"cycle_length": 1}, "^cycle_length must be a whole number of at least 2, 1 was given$"),
    (ACS, {"cycle_length": True}, "^cycle_length must be a whole number of at least 2, True was given$"),
    (ACS, {"steps": 9, "step_size": 1.0, "min_step_size": 2.0}, "^min_step_size must not exceed step_size=1"),
    (ACS, {"steps": 9, "target_acceptance": 1.0}, "^target_acceptance must be a number from 0.01 to 0.99"),
    (ACS, {"steps": 9, "beta_max": 0.4}, "^beta_max must be a number from 0.5 to 1, 0.4 was given$"),
    (ACS, {"steps": 9, "zeta": 0}, "^zeta must be a number from 0.01 to 1, 0 was given$"),
    (ACS, {"cycle_length": 3, "balancing": 1.5}, "^balancing must be a number from 0 to 1, 1.5 was given$"),
    (ACS, {"cycle_length": 3, "balancing": [0.5]}, r"^balancing must be 'auto', .* 3 positions, \[0.5\]"),
    (ACS, {"cycle_length": 3, "balancing": "half"}, "^balancing must be 'auto', .* 'half' was given$"),
    (EDMALA, {"step_size": 0.1, "eta": 0.0}, "^eta must be a positive number, 0.0 was given$"),
    (EDULA, {"step_size": 0.1, "auxiliary_step_size": 0.0}, "^auxiliary_step_size must be a positive number"),
    (EDULA, {"step_size": 0.1, "eta": 0.0025}, "^auxiliary_step_size must be below 4 eta, which is 0.01,"),
    (EDULAGLU, {"step_size": 0.1, "eta": "2"}, "^eta must be a positive number, '2' was given$"),
    (EDMALAGLU, {"step_size": 0.0}, "^step_size must be a positive number or 'auto', 0.0 was given$"),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "settings", "words"), ALONE)
def test_settings_of_a_kernel(cls: type[Kernel], settings: dict[str, Any], words: str) -> None:
    assert re.search(words, error_message(ValueError, configured, cls, **settings))


PAIR = {"ladder": [1.0, 0.5]}
THREE = [1.0, 0.5, 0.0]
TEMPERED: list[tuple[type[Kernel], Any, dict[str, Any], str]] = [
    *((PT, DMALA(1.0), {"ladder": ladder}, words) for ladder, words in [
        ([1.0], "at least two"), ([0.9, 0.5], "from 1"), ([1.0, 0.5, 0.5], "strictly"),
        ([1.0, 1.5], r"\[0, 1\]"), ([1.0, -0.1], r"\[0, 1\]"), ([1.0, NAN], r"\[0, 1\]"),
        ("geometricc", "^ladder must be 'auto' or .*'geometricc' was given$"),
    ]),
    (PT, DMALA(1.0), PAIR | {"replicas": 3}, "^replicas=3 does not fit .* has 2 rungs$"),
    *((PT, DMALA(1.0), {"hottest": hottest}, "^hottest must be a number of at least 0 and below 1, ")
      for hottest in (1.0, -0.1, NAN, "warm")),
    (PT, DMALA(1.0), PAIR | {"hottest": 0.2}, "^hottest=0.2 is for ladder=auto; the .* ends at 0.5$"),
    (PT, DMALA(1.0), {"replicas": 1}, "at least 2"),
    (PT, DMALA(1.0), {"replicas": 2.5}, "whole number"),
    (PT, DMALA(1.0), {"max_replicas": 1}, "^max_replicas must be a whole number of at least 2"),
    (PT, DMALA(1.0), PAIR | {"step_size": [1.0]}, "one number for each rung of the ladder"),
    (PT, DMALA(1.0), {"step_size": [1.0, 2.0]}, "one number for each rung"),
    (PT, DMALA(1.0), {"replicas": 4, "step_size": []}, "one number for each rung"),
    (PT, DMALA(1.0), {"step_size": 0.0}, "positive"),
    (PT, DMALA(1.0), {"step_size": "big"}, "positive"),
    (PT, DMALA(1.0), {"acceptance": 1.0}, "^acceptance must be"),
    (PT, DMALA(1.0), {"replicas_formula": "v3"}, "^replicas_formula must be one of .* v1, v2, 'v3'"),
    *((PT, Gibbs(), settings | {"step_size": size}, "^step_size must be null around Gibbs, which has its")
      for settings in ({}, PAIR) for size in ("auto", 1.0)),
    (PT, tunable(AB), PAIR | {"step_size": 2.0}, "^balancing must be a number .* inside a ladder"),
    (PT, tunable(ACS, steps=9), PAIR, "^all of step_size, min_step_size and balancing must be given"),
    (PT, ParallelTempering(Gibbs(), [1.0, 0.5]), PAIR, "^kernel must not be tempered already, Parallel"),
    (PT, ExactDraws(), PAIR, "^kernel must serve inverse temperatures below 1, ExactDraws does not$"),
    *((ST, DMALA(1.0), {"ladder": THREE} | changed, words) for changed, words in [
        ({"ladder": [0.1, 0.5, 1.0]}, "decrease strictly from 1"),
        ({"ladder": [1.0]}, "at least two"),
        ({"ladder": "coarsest"}, "^ladder must be"),
        ({"rate": 0.0}, "^rate must be a number between 0 and 1"),
        ({"rate": 1.0}, "^rate must be a number between 0 and 1"),
        ({"rate": "half"}, "^rate must be a number between 0 and 1"),
        ({"log_partition": [0.0, 1.0]}, "one number for each level of a given ladder"),
        ({"log_partition": [0.0, 1.0, NAN]}, "^log_partition must be finite"),
        ({"ladder": "auto", "log_partition": [0.0, 1.0, 2.0]}, "of a given ladder"),
        ({"log_partition": 1.0}, "one number for each level .*, 1.0 was given$"),
        ({"log_partition": torch.zeros(2)}, r"one number for each level .*, \[0.0, 0.0\] was given$"),
        ({"log_partition": np.zeros((1, 3))}, r"one number for each level .*, \[\[0.0, 0.0, 0.0\]\] was"),
        ({"partition": "inductiv"}, "did you mean 'inductive'"),
        ({"step_size": [1.0, 2.0]}, "one number for each rung"),
        ({"step_size": -1.0}, "positive"),
        ({"step_size": "stmh"}, "^step_size must be a positive number or .auto., .stmh. was given$"),
        ({"max_levels": 1}, "^max_levels must be a whole number of at least 2"),
        ({"acceptance": 0}, "^acceptance must be"),
    ]),
    (ST, GaussianWalk(1.0), {"step_size": "sthm"}, "^step_size must be .* or 'stmh', 'sthm' was given$"),
    (ST, Gibbs(), {"step_size": "auto"}, "^step_size must be null around Gibbs, which has its"),
    *((RELD, MALA(1.0), changed, words) for changed, words in [
        ({"tau": 0.0}, "^tau must be a positive number, 0.0 was given$"),
        ({"tau": [1.0, -2.0, 3.0]}, "^tau must be a positive number, -2.0 was given$"),
        ({"tau": [1.0, 2.0]}, r"^tau must be null, .* one for each of the 3 levels .*\[1.0, 2.0\] was"),
        ({"tau": "fast"}, "^tau must be a positive number, 'fast' was given$"),
        ({"tau": None}, "^tau must be given where the ladder ends in 0"),
        ({"rho": 0.0}, "^rho must be a positive number, 0.0 was given$"),
        ({"rho": "auto"}, "^rho must be a positive number, 'auto' was given$"),
        ({"scale": -1.0}, "^scale must be a positive number, -1.0 was given$"),
        ({"scale": None}, "^scale must be a positive number where the ladder ends in 0"),
        ({"ladder": [0.0, 0.4, 1.0]}, "^ladder must be at least two numbers that decrease strictly from 1"),
        ({"ladder": "auto"}, "'auto' was given$"),
        ({"step_size": 0.0}, "^step_size must be a positive number or 'auto', 0.0 was given$"),
        ({"acceptance": 2.0}, "^acceptance must be a number from 0.01 to 0.99"),
    ]),
    (RELD, RandomWalk(), {}, "^kernel must be MALA or ULA, a RandomWalk was given$"),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "kernel", "settings", "words"), TEMPERED)
def test_settings_of_a_tempering(
    cls: type[Kernel], kernel: Any, settings: dict[str, Any], words: str
) -> None:
    full = {"ladder": [1.0, 0.4, 0.0], "step_size": 0.1, "tau": 2.0, "scale": 2.0}
    assert re.search(
        words, error_message(ValueError, configured, cls, kernel, **(full if cls is RELD else {}) | settings)
    )


BINARY, REALS = random_target(Binary(3)), GaussianMixture([[-2.0, 0.0], [2.0, 1.0]], covariance=0.5).double()


@pytest.mark.parametrize(
    ("sampler", "target", "words"),
    [
        (tunable(ST, GaussianWalk(1.0), ladder=[1.0, 0.0]), REALS, "above 0 on the reals"),
        (tunable(ST, GaussianWalk(1.0)), REALS, "above 0 on the reals.*'auto' was given$"),
        (SimulatedTempering(GaussianWalk(1.0), [1.0, 0.0], [0.0, 0.0]), REALS, "above 0 on the reals"),
        (tunable(PT, configured(MALA)), REALS, "^hottest must be above 0 .*, such as 0.01, 0.0 was given$"),
        (
            tunable(PT, configured(MALA), ladder=[1.0, 0.0]),
            REALS,
            r"^ladder must .*, \[1.0, 0.0\] was given$",
        ),
        (ParallelTempering(GaussianWalk(1.0), [1.0, 0.0]), REALS, "^ladder must end above 0 on the reals"),
        (tunable(ST, DMALA(1.0), ladder="coarse"), BINARY, "need a mixture of Gaussians"),
        (SimulatedTempering(GaussianWalk(1.0), [1.0, 0.5], [0.0, 0.0]), BINARY, "needs a real space"),
        *(
            (tunable(cls, configured(PAS), step_size=4.0), BINARY, "^radius must be at most 3, the dimension")
            for cls in (PT, ST)
        ),
        (tunable(AB), REALS, r"^ab needs a binary, ordinal or categorical space, not Real\(d=2"),
        (tunable(ACS, steps=100), REALS, "^acs needs a binary, ordinal or categorical space"),
        (tunable(MALA), BINARY, "^mala needs a real space"),
    ],
)
def test_targets_that_cannot_be_served(sampler: Any, target: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sampler.check(target)


def test_a_constructor_takes_no_auto_and_says_so() -> None:
    with pytest.raises(ValueError, match=r"^step_size must be a positive number, 'auto' was given$"):
        AB("auto", 0.5)  # type: ignore[arg-type]


def test_what_is_open_is_known_before_the_tuning() -> None:
    for settings, names in (
        ({"ladder": THREE}, ("step_size", "log_partition")),
        ({"ladder": "auto"}, ("ladder", "step_size", "log_partition")),
    ):
        sampler = tunable(ST, configured(DMALA), **settings)
        assert sampler.example.has_levels
        assert sampler.open == names
    assert tunable(AB).open == ("step_size", "balancing")
    assert tunable(ACS, cycle_length=4, step_size=0.6).open == ("min_step_size", "balancing")
    assert tunable(PT, configured(DMALA)).open == ("ladder", "step_size")
    assert isinstance(configured(PT, configured(DMALA), **PAIR, step_size=1.0), ParallelTempering)


@pytest.mark.parametrize("made", [list, torch.tensor, np.array, lambda x: np.array(x, np.float32)])
def test_numbers_of_levels_may_stand_in_a_tensor_or_an_array(made: Any) -> None:
    ladder, log_partition = made([1.0, 0.5]), made([1.0, 2.0])
    for chain in (
        ST(Gibbs(), ladder, log_partition),
        configured(ST, Gibbs(), ladder=ladder, log_partition=log_partition),
    ):
        assert isinstance(chain, SimulatedTempering)
        assert chain.betas.tolist() == [1.0, 0.5]
        assert chain.log_partition.tolist() == [1.0, 2.0]
    assert tunable(ST, configured(DMALA), ladder=ladder).given["ladder"] == [1.0, 0.5]
    assert tunable(PT, configured(DMALA), ladder=ladder).given["ladder"] == [1.0, 0.5]


ONE, TWO = torch.ones(()), torch.tensor([1.0, 2.0])
CONSTRUCTORS: list[tuple[Any, str]] = [
    (lambda: AB(0.1, "auto"), "^balancing must be a number from 0.5 to 1, 'auto' was given$"),
    (lambda: ACS(4, 1.0, 0.1, "auto"), "^balancing must be a number from 0 to 1, or one for each of the 4 "),
    (lambda: ST(Gibbs(), [1.0, 0.5], "auto"), "^log_partition must be one number for each level of a given "),
    (lambda: PT(DMALA(1.0), THREE, [1.0]), "^step_size must be one number or one number for each rung"),
    (lambda: PT(DMALA(1.0), THREE, TWO), r"^step_size must be .* the 3 rungs .* shape \(2,\) was given$"),
    (lambda: PT(DMALA(1.0), THREE, -ONE), "^step_size must be positive and finite, -1.0 was given$"),
    (lambda: PT(DMALA(1.0), THREE, [1.0, TWO, 1.0]), r"^step_size must be a positive number, tensor"),
    (lambda: PT(DMALA(TWO), THREE), r"^step_size must be one number .* 3 rungs .* shape \(2,\) was given$"),
    (lambda: ST(DMALA(1.0), THREE, [0.0] * 3, step_size=TWO), r"^step_size must be .* shape \(2,\) was"),
    (lambda: SimulatedAnnealing(DMALA(1.0), 10, step_size=[]), r"^step_size must be one .* \[\] was given$"),
    (lambda: ACS(4, -ONE, -2 * ONE, 0.5), "^step_size must be a positive number, -1.0 was given$"),
    (lambda: ACS(4, TWO, 0.1, 0.5), r"^step_size must be a positive number, tensor\(\[1., 2.\]\) was given$"),
    (lambda: RELD(MALA, [1.0, 0.5], 0.1), "^kernel must be MALA or ULA, the class MALA itself was given$"),
    (lambda: geometric_ladder(1), "^replicas must be a whole number of at least 2, 1 was given$"),
    (lambda: geometric_ladder(3, 1.5), "^hottest must be a number of at least 0 and below 1, 1.5 was given$"),
    (lambda: BlockGibbs(40).check(random_target(Binary(64))), "^block_size=40 would make 1099511627776 st"),
    (lambda: ReleasedDMALA(1.0).check(REALS), "^released_dmala needs a binary, ordinal or categorical space"),
    (lambda: DMALANewton(1.0).check(small_rbm(3, 4)), "^dmala_newton needs a target that .*, RBM does not"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "words"), CONSTRUCTORS)
def test_constructors_offer_only_what_they_take(make: Any, words: str) -> None:
    assert re.search(words, error_message(ValueError, make))


def test_tensors_of_step_sizes_that_fit_are_taken() -> None:
    assert torch.equal(PT(DMALA(1.0), [1.0, 0.5], TWO).step_sizes, TWO)  # type: ignore[arg-type]
    assert ACS(4, 2 * ONE, torch.tensor([1.0]), 0.5).step_size == 2.0
    assert SimulatedAnnealing(DMALA(1.0), 10, step_size=TWO).step_sizes is not None


@pytest.mark.parametrize(
    "make",
    [
        lambda kernel: ST(kernel, [1.0, 0.5], [0.0, 0.0], step_size=1.0),
        lambda kernel: SimulatedAnnealing(kernel, 10, step_size=1.0),
    ],
)
def test_a_kernel_that_is_moved_takes_the_tensors_of_the_one_inside_along(make: Any) -> None:
    moved = make(AB(1.0, 0.7 * ONE.double())).to(torch.ones((), dtype=torch.float32))
    local = moved.at(torch.zeros((), dtype=torch.int64))
    assert local.balancing.dtype == local.step_size.dtype == torch.float32
