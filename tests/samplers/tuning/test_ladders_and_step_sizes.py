"""Step sizes and ladders from pilots, held against exact rejections by enumeration."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from metrics.enumeration.transition_matrix import tempered_probabilities
from samplers import (
    DMALA,
    DULA,
    MALA,
    Gibbs,
    Kernel,
    ParallelTempering,
    RBMGibbs,
    SimulatedTempering,
    TourSwap,
    Tunable,
    configured,
    geometric_ladder,
)
from samplers.tempering.ladder import equal_rejection_ladder
from samplers.tempering.replica_count import (
    optimal_constrained,
    optimal_replicas,
    optimal_v1,
    optimal_v2,
    round_trip_time,
)
from samplers.tuning.pilots.acceptance_curve import first_crossing
from samplers.tuning.pilots.ladder_rounds import LadderPilot, LadderWanted, _by_place, tune_ladder
from targets import TSP, Binary, MixtureOfGaussians, Ordinal, Real, Streams, Target
from targets.function_target import FunctionTarget
from targets.synthetic.independent import IndependentBits
from tests.support.steps.stepping import seeded
from tests.support.targets.small_targets import Quadratic, random_target, small_rbm
from tests.support.tunable import piloted, tunable

RBM_TARGET = small_rbm()
BERNOULLI = IndependentBits(300, 4.0).float()
RUGGED = random_target(Ordinal(2, 9), seed=7, roughness=8.0)


def exact_rejections(target: Target, betas: list[float]) -> list[float]:
    """1 - E min(1, exp(r)) between neighbours that are independent and at equilibrium."""
    energies = target.log_prob(target.space.states())  # type: ignore[attr-defined]
    rejections = []
    for cold, hot in pairwise(betas):
        ratio = (cold - hot) * (energies.unsqueeze(0) - energies.unsqueeze(1))
        joint = torch.outer(tempered_probabilities(target, cold), tempered_probabilities(target, hot))
        rejections.append(float((joint * (1 - ratio.clamp(max=0).exp())).sum()))
    return rejections


def test_pilot_rejections_are_the_exact_ones() -> None:
    pilot = LadderPilot(chains=64)
    tuned = piloted(
        lambda run: tune_ladder(run, Gibbs(), LadderWanted(), pilot), RUGGED, Streams([0], "tuning")
    )
    exact = exact_rejections(RUGGED, tuned.pilot_ladder)
    np.testing.assert_allclose(tuned.rejections, exact, atol=0.02)
    assert tuned.barrier[-1] == pytest.approx(sum(exact), abs=0.05)


def test_the_tuned_ladder_has_equal_exact_rejections() -> None:
    fine = geometric_ladder(40).tolist()
    ladder = equal_rejection_ladder(fine, exact_rejections(RUGGED, fine), 5)
    rejections = exact_rejections(RUGGED, ladder)
    assert ladder[0] == 1.0
    assert ladder[-1] == 0.0
    assert max(rejections) - min(rejections) <= 0.03


def test_a_ladder_of_equal_rejections_stays_as_it_is() -> None:
    betas = [1.0, 0.5, 0.2, 0.0]
    np.testing.assert_allclose(equal_rejection_ladder(betas, [0.3, 0.3, 0.3], 4), betas, atol=1e-9)


def test_replicas_that_always_swap_still_give_a_ladder() -> None:
    ladder = equal_rejection_ladder([1.0, 0.5, 0.0], [0.0, 0.0], 3)
    assert ladder == sorted(ladder, reverse=True)


@pytest.mark.parametrize(
    ("barrier", "v1", "v2", "constrained"), [(1, 2.69, 3, 2.62), (5, 8.78, 11, 8.65), (10, 16.3, 21, 16.2)]
)
def test_replica_formulas_give_known_figures(
    barrier: float, v1: float, v2: float, constrained: float
) -> None:
    assert optimal_v1(barrier) == pytest.approx(v1, abs=0.05)
    assert optimal_v2(barrier) == v2
    assert optimal_constrained(barrier) == pytest.approx(constrained, abs=0.05)
    assert optimal_replicas(barrier, "v2", limit=4) == min(v2, 4)


@pytest.mark.parametrize("barrier", [0.3, 1.0, 5.0, 10.0])
def test_the_constrained_formula_maximises_round_trips_per_chain(barrier: float) -> None:
    def negative_rate(replicas: float) -> float:
        swap = 1 - barrier / (replicas - 1)
        return -1 / (replicas * (replicas - 1) / swap)

    best = minimize_scalar(
        negative_rate, bounds=(1 + barrier, 100), method="bounded", options={"xatol": 1e-9}
    )
    assert optimal_constrained(barrier) == pytest.approx(best.x, abs=1e-4)


def test_round_trip_time_against_simulation() -> None:
    """K = 6, s = 0.3: 100 rounds by the formula, 99.6 simulated, 116.7 by v1 (settings I, row 10)."""
    rungs, swap, walkers, rounds = 6, 0.3, 4000, 4000
    generator = np.random.default_rng(0)
    place = np.zeros(walkers, dtype=int)
    upwards = np.ones(walkers, dtype=bool)
    trips = np.zeros(walkers)
    for _ in range(rounds):
        draw = generator.random(walkers)
        up, down = draw < swap, draw > 1 - swap
        place = np.clip(place + up - down, 0, rungs - 1)
        upwards_now = np.where(place == rungs - 1, False, upwards)
        back = ~upwards_now & (place == 0)
        trips += back
        upwards = upwards_now | back
    assert round_trip_time([swap] * (rungs - 1)) == pytest.approx(100.0)
    # About 160,000 trips: the relative noise is below 0.3 per cent; v1's 116.7 is far outside.
    assert walkers * rounds / trips.sum() == pytest.approx(100.0, rel=0.02)


def test_first_crossing_reads_the_first_fall() -> None:
    sizes = torch.tensor([1.0, 10.0, 100.0, 1000.0])
    acceptance = torch.tensor([[0.9, 0.9], [0.6, 0.9], [0.2, 0.9], [0.8, 0.9]])
    found = first_crossing(sizes, acceptance, 0.4)
    assert found[0].item() == pytest.approx(10**1.5, rel=1e-6)
    assert found[1].item() == pytest.approx(1000.0)


@pytest.mark.parametrize(("kernel", "norm"), [(DMALA, 2.0), (DULA, 2.0), (DMALA, 8.0)])
def test_tuned_step_sizes_reach_the_wanted_acceptance(kernel: type[DMALA], norm: float) -> None:
    """With the norm 8 the step size is a distance to the power 8: far above that of squared distances."""
    target, sampler = MixtureOfGaussians(components=8), tunable(kernel, norm=norm)
    assert sampler.open == ("step_size",)
    found = sampler.tune(target, Streams([0], "tuning")).hyperparameters
    assert type(sampler.kernel_at(found)) is kernel
    adjusted = DMALA(found["step_size"], norm=norm)
    generator = seeded(1)
    one = torch.ones((), dtype=torch.float64)
    state = adjusted.init(target, target.sample((400,), generator), one)
    total = 0.0
    for _ in range(100):
        state, info = adjusted.step(target, state, one, generator)
        total += info.acceptance.mean().item() / 100
    # 40,000 acceptances of correlated chains have a standard error below 0.004.
    assert total == pytest.approx(0.574, abs=0.03)


def test_tempering_tunes_its_ladder_and_each_rung() -> None:
    target = MixtureOfGaussians(components=8).float()
    sampler = tunable(ParallelTempering, configured(DMALA))
    assert sampler.example.axes == (2,)
    result = sampler.tune(target, Streams([0], "tuning"))
    found = result.hyperparameters
    assert sampler.kernel_at(found).axes == (len(found["ladder"]),)
    assert result.report["barrier"] == pytest.approx(1.38, abs=0.05)
    assert found["step_size"] == sorted(found["step_size"])


def test_a_rung_without_a_step_size_in_reach_is_named() -> None:
    target = FunctionTarget(lambda theta: -1e8 * theta.square().sum(-1), Real(2))
    sampler = tunable(ParallelTempering, configured(MALA), ladder=[1.0, 0.5])
    report = sampler.tune(target, Streams([0], "tuning"), effort=0.1).report
    (sentence,) = report["warnings"]
    assert sentence.startswith(
        "no step size from 0.0001 to 100 is accepted with probability 0.574 at beta=1:"
    )
    assert " is accepted with probability 0.574 at beta=1: at 0.0001 it is 0.0" in sentence
    assert len(report["reached_acceptance"]) == 2


@pytest.mark.parametrize(("curvature", "end", "reached"), [(1e4, 1e-4, 0.35), (0.0, 100.0, 1.0)])
def test_on_the_reals_an_end_of_what_is_tried_is_named(curvature: float, end: float, reached: float) -> None:
    """Also where the acceptance there is not far from the wanted one: another step size has it."""
    target = FunctionTarget(lambda theta: -0.5 * curvature * theta.square().sum(-1), Real(8))
    found = tunable(MALA).tune(target, Streams([0], "tuning"))
    assert found.hyperparameters["step_size"] == pytest.approx(end, rel=1e-6)
    (sentence,) = found.report["warnings"]
    assert sentence.startswith("no step size from 0.0001 to 100 is accepted with probability 0.574: at ")
    assert found.report["reached_acceptance"] == [pytest.approx(reached, abs=0.1)]


def test_on_the_reals_a_step_size_that_is_accepted_as_wanted_is_not_warned_of() -> None:
    target = FunctionTarget(lambda theta: -0.5 * theta.square().sum(-1), Real(8))
    assert "warnings" not in tunable(MALA).tune(target, Streams([0], "tuning")).report


def test_a_ladder_ends_at_the_hottest_temperature_that_is_given() -> None:
    """From 1 to 0.1 alone, with a barrier of 1.11 (to 0: 1.84), and equal rejections by enumeration."""
    sampler = tunable(ParallelTempering, Gibbs(), replicas=4, hottest=0.1)
    found = sampler.tune(RUGGED, Streams([0], "tuning"))
    ladder = found.hyperparameters["ladder"]
    rejections = exact_rejections(RUGGED, ladder)
    barrier = sum(exact_rejections(RUGGED, geometric_ladder(100, hottest=0.1).tolist()))
    assert (ladder[0], ladder[-1], len(ladder)) == (1.0, 0.1, 4)
    assert max(rejections) - min(rejections) <= 0.05
    assert found.report["barrier"] == pytest.approx(barrier, abs=0.05)


def test_the_pilot_of_many_replicas_has_as_many_rungs() -> None:
    """Ten rungs could not show a barrier above 9."""
    sampler = tunable(ParallelTempering, Gibbs(), replicas=12, hottest=0.2)
    report = sampler.tune(RUGGED, Streams([0], "tuning"), effort=0.01).report
    assert len(report["pilot_ladder"]) == 12
    assert (report["pilot_ladder"][0], report["pilot_ladder"][-1]) == (1.0, 0.2)


@pytest.mark.parametrize(
    ("cls", "remedy"),
    [
        (ParallelTempering, "a longer ladder, or more replicas with hottest above 0"),
        (SimulatedTempering, "a longer ladder"),
    ],
)
def test_a_barrier_that_the_rungs_of_the_pilot_cannot_see_is_warned_of(
    cls: type[Kernel], remedy: str
) -> None:
    """The true one is 11.2, of which ten rungs see less than 9; levels have no number of replicas."""
    given = {} if cls is ParallelTempering else {"partition": "wang_landau"}
    report = tunable(cls, Gibbs(), **given).tune(BERNOULLI, Streams([0], "tuning"), effort=0.05).report
    sentence, *others = report["warnings"]
    assert all("log Z of a level rests on" in other for other in others)
    assert sentence == (
        f"the barrier of {report['barrier']:.1f} is a lower bound, since the 10 rungs of the pilot see no "
        f"more than 9; give {remedy}"
    )
    if cls is ParallelTempering:
        many = tunable(cls, Gibbs(), replicas=30).tune(BERNOULLI, Streams([0], "tuning"), effort=0.05).report
        assert many["warnings"] == [sentence], "the ten rungs of a ladder to 0 are no more for 30 replicas"
        hot = tunable(cls, Gibbs(), hottest=0.01)
        (sentence,) = hot.tune(BERNOULLI, Streams([0], "tuning"), effort=0.05).report["warnings"]
        assert sentence.endswith("give a longer ladder, or more replicas")
    few = tunable(ParallelTempering, Gibbs()).tune(RUGGED, Streams([0], "tuning"), effort=0.05).report
    assert "warnings" not in few


def test_a_pair_that_hardly_ever_swaps_is_warned_of() -> None:
    """All of the true barrier of 6 is between the last rung and beta=0; the pilot sees 1 of it."""
    target = IndependentBits(d=30, spread=1e6).float()
    report = tunable(ParallelTempering, Gibbs()).tune(target, Streams([0], "tuning")).report
    assert (report["barrier"], report["pilot_rejections"][-1]) == (1.0, 1.0)
    (sentence,) = report["warnings"]
    assert sentence == (
        "the barrier of 1.0 is a lower bound, since the pilot rejects 100% of the swaps between "
        "beta=0.0007453 and 0, which hides how far apart they are; give a longer ladder, or more replicas "
        "with hottest above 0, or the target on another scale"
    )
    spread = tunable(ParallelTempering, Gibbs(), replicas=20, hottest=1e-7)
    report = spread.tune(target, Streams([0], "tuning"), effort=0.2).report
    assert report["barrier"] == pytest.approx(5.6, abs=0.6), "what the warning says helps"
    assert "warnings" not in report


def test_a_given_number_of_replicas_is_kept() -> None:
    target = MixtureOfGaussians(components=8).float()
    sampler = tunable(ParallelTempering, DMALA(20.0), replicas=5, step_size=20.0)
    found = sampler.tune(target, Streams([0], "tuning")).hyperparameters
    assert len(found["ladder"]) == 5
    assert found["step_size"] == 20.0


def test_tempered_dula_is_tuned_like_tempered_dmala() -> None:
    """DULA rejects nothing: its own acceptance, always 1, would send every rung to the largest step."""
    target = MixtureOfGaussians(components=8).float()
    ladder = [1.0, 0.25, 0.05]
    sizes = {}
    for kernel in (DULA, DMALA):
        sampler = tunable(ParallelTempering, configured(kernel), ladder=ladder)
        sizes[kernel] = sampler.tune(target, Streams([0], "tuning")).hyperparameters["step_size"]
    np.testing.assert_allclose(sizes[DULA], sizes[DMALA])
    assert sizes[DULA][0] < 100


class Ruined(Quadratic):
    """NaN at the state of ones, finite elsewhere."""

    def log_prob(self, theta: torch.Tensor) -> torch.Tensor:
        return super().log_prob(theta).masked_fill((theta == 1).all(-1), torch.nan)


@pytest.mark.parametrize(
    "sampler", [tunable(DMALA), tunable(ParallelTempering, tunable(DMALA))], ids=["dmala", "pt_dmala"]
)
def test_a_pilot_that_meets_nan_says_so(sampler: Tunable) -> None:
    plain = random_target(Binary(3), seed=1)
    target = Ruined(plain.space, plain.weight, plain.bias)
    with pytest.raises(ValueError, match="NaN or infinite in the tuning pilot"):
        sampler.tune(target, Streams([0], "tuning"))


class OneStep(ParallelTempering):
    """A tempering of a user's own, without a builder."""

    def __init__(self, kernel: Kernel, step_size: float | None = None) -> None:
        super().__init__(kernel, [1.0, 0.5], step_size)


def test_a_tempering_without_a_builder_takes_numbers_alone() -> None:
    given = configured(OneStep, configured(DMALA), step_size=0.3)
    assert isinstance(given, OneStep)
    assert given.step_sizes is not None
    assert given.step_sizes.tolist() == [0.3, 0.3]
    assert isinstance(configured(OneStep, configured(Gibbs)), OneStep)
    with pytest.raises(ValueError, match="OneStep tunes nothing: step_size of DMALA must be given"):
        configured(OneStep, configured(DMALA))


@pytest.mark.parametrize("kernel", [RBMGibbs(), TourSwap()], ids=["rbm_gibbs", "tour_swap"])
def test_a_ladder_is_tuned_around_kernels_without_a_step_size(kernel: Kernel) -> None:
    target = RBM_TARGET if isinstance(kernel, RBMGibbs) else TSP(5, scale=3.0, instance_seed=1)
    sampler = tunable(ParallelTempering, kernel, replicas=3)
    assert sampler.open == ("ladder",)
    tuned = sampler.tuned(target, Streams([0], "tuning"))
    assert tuned.axes == (3,)
    assert tuned.exact


def test_a_ladder_is_tuned_around_step_sizes_that_are_given_by_rung() -> None:
    sizes = [0.15, 0.25, 0.35, 0.45]
    sampler = tunable(ParallelTempering, tunable(DMALA), replicas=4, step_size=sizes)
    assert sampler.open == ("ladder",)
    found = sampler.tune(RBM_TARGET, Streams([0], "tuning")).hyperparameters
    assert found["step_size"] == sizes
    tuned = sampler.kernel_at(found)
    assert isinstance(tuned, ParallelTempering)
    assert tuned.axes == (4,)
    assert tuned.step_sizes is not None
    assert tuned.step_sizes.flatten().tolist() == sizes
    # The same sizes at a ladder of another length, at the same place between cold and hot.
    between = _by_place(torch.tensor(sizes, dtype=torch.float64), 7)
    assert between[::2].tolist() == pytest.approx(sizes)
    assert between[1].item() == pytest.approx((0.15 * 0.25) ** 0.5)
