"""Partition functions of a ladder: against quadrature, enumeration and the normal theory of their errors."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from samplers import DMALA, GaussianWalk, SimulatedTempering, Tunable, configured
from samplers.tempering.simulated.partition_functions import PartitionPilot, mean_of_weights
from samplers.tempering.simulated.stmh_ladder import Mixture, largest_ratio, mixture_of, radius, stmh_ladder
from samplers.tempering.simulated.stochastic_approximation import difference_error, gain
from samplers.tuning.tempered_level_tuning import PARTITIONS
from targets import Binary, GaussianMixture, Ordinal, Streams, stmh_two_modes
from targets.synthetic.independent import IndependentBits
from tests.support.steps.stepping import seeded
from tests.support.targets.level_log_partitions import level_log_partitions
from tests.support.targets.quadrature import level_partitions
from tests.support.targets.small_targets import random_target
from tests.support.tunable import piloted

METHODS = list(PARTITIONS)


def relative(log_partition: Tensor) -> Tensor:
    return log_partition - log_partition[-1]


@pytest.mark.parametrize("method", METHODS)
def test_a_mixture_ladder_is_within_a_twentieth_of_a_nat_of_quadrature(method: str) -> None:
    """Two modes 6 apart, 6 levels; 0.05 nats are at least 5.2 standard errors: false alarm 1e-6 a test."""
    target = stmh_two_modes(6.0)
    ladder = stmh_ladder(mixture_of(target))
    sampler = configured(
        SimulatedTempering,
        configured(GaussianWalk),
        ladder=ladder,
        partition=method,
        step_size=[2.0, 2.5, 3.0, 4.0, 5.0, 6.0],
        pilot=PartitionPilot(chains=1_600, steps=100),
    )
    assert isinstance(sampler, Tunable)
    result = sampler.tune(target, Streams([0], "tuning"))
    found = result.hyperparameters
    assert found["ladder"] == ladder
    betas = torch.tensor(ladder, dtype=torch.float64)
    values = torch.tensor(found["log_partition"], dtype=torch.float64)
    error = values - relative(level_partitions(target, betas, half=45.0))
    assert error.abs().max() <= 0.05
    # Without burn-ins nothing tells whether the chains have forgotten where they started.
    assert ("log_partition_interval" in result.report) == (method == "inductive")
    if method == "inductive":
        low, high = torch.tensor(result.report["log_partition_interval"], dtype=torch.float64).T
        assert (high - low).max() <= 2 * 1.97 * 0.0095
        assert (error.abs() <= 1.35 * (high - low) + 1e-9).all()
    assert min(result.report["partition_effective_sample_size"]) > 1_000
    tuned = sampler.kernel_at(found)
    assert isinstance(tuned, SimulatedTempering)
    assert tuned.log_partition.tolist() == found["log_partition"]


@pytest.mark.parametrize("space", [Binary(4), Ordinal(2, 4)], ids=["binary", "ordinal"])
@pytest.mark.parametrize("method", METHODS)
def test_discrete_ladders_agree_with_enumeration(method: str, space: Binary | Ordinal) -> None:
    """Within 5.3 standard errors at each of three levels: false alarm 4e-7 a test."""
    target = random_target(space, seed=3, roughness=2.0)
    betas = torch.tensor([1.0, 0.6, 0.3, 0.0], dtype=torch.float64)
    chain = SimulatedTempering(DMALA(1.0), betas.tolist(), [0.0] * 4)
    pilot = PartitionPilot(256, 60)
    found = piloted(lambda run: PARTITIONS[method](run, chain, pilot), target, Streams([1], "tuning"))
    error = torch.tensor(found.log_partition) - relative(level_log_partitions(target, betas))
    assert found.log_partition[-1] == found.standard_error[-1] == 0.0
    assert (error.abs() <= 5.3 * torch.tensor(found.standard_error) + 1e-12).all()
    assert max(found.standard_error) < 0.05
    # Each round walks until its start is forgotten; Wang-Landau steps where it learns, measures and before.
    counted = 60 * (1 + 2 + 3) if method == "inductive" else 60 + 2 * 240
    assert found.evaluations == counted + sum(found.burn_in)
    assert len(found.burn_in) == (3 if method == "inductive" else 0)


def test_the_error_of_a_mean_of_weights_sees_the_correlation_within_chains() -> None:
    """Log-normal weights: mean 1, to 5 errors (6e-7), and squared coefficient of variation e^0.25 - 1.

    Of the estimated errors a tenth is 8 of theirs.
    """
    generator = seeded(3)
    steps, chains, sigma = 50, 4_000, 0.5
    noise = torch.randn((steps, chains), generator=generator, dtype=torch.float64)
    logs = sigma * noise - sigma**2 / 2
    variation = math.exp(sigma**2) - 1
    everything = torch.ones_like(logs, dtype=torch.bool)
    ratio = mean_of_weights(logs, everything)
    assert abs(ratio.log_mean) < 5.0 * ratio.standard_error
    assert ratio.standard_error == pytest.approx(math.sqrt(variation / logs.numel()), rel=0.1)
    assert ratio.effective == pytest.approx(logs.numel() / (1 + variation), rel=0.1)

    repeated = logs[:5].repeat_interleave(10, 0)
    slow = mean_of_weights(repeated, everything)
    assert slow.log_mean == pytest.approx(mean_of_weights(logs[:5], everything[:5]).log_mean, abs=1e-12)
    assert slow.effective == pytest.approx(5 * chains / (1 + variation), rel=0.1)

    half = torch.rand(logs.shape, generator=generator) < 0.5
    masked = mean_of_weights(logs + 1_000.0, half)
    assert masked.log_mean == pytest.approx(1_000.0 + float(logs[half].exp().mean().log()), abs=1e-9)
    assert masked.effective == pytest.approx(int(half.sum()) / (1 + variation), rel=0.1)


def test_equal_weights_are_worth_every_draw_and_none_are_worth_nothing() -> None:
    zeros = torch.zeros((10, 4), dtype=torch.float64)
    flat = mean_of_weights(zeros - 3.0, zeros == 0)
    assert (flat.log_mean, flat.standard_error, flat.effective) == (-3.0, 0.0, 40.0)
    assert math.isnan(mean_of_weights(zeros, zeros > 0).log_mean)
    lone = zeros - 200.0
    lone[3, 2] = 0.0
    assert mean_of_weights(lone, zeros == 0).effective < 2.0


def test_errors_of_differences_agree_with_the_jackknife() -> None:
    generator = seeded(5)
    first, second = 0.3 * torch.randn((2, 40, 300), generator=generator, dtype=torch.float64)
    second = second + 0.8 * first

    def difference(kept: Tensor) -> float:
        return float(first[:, kept].exp().mean().log() - second[:, kept].exp().mean().log())

    left_out = torch.tensor([difference(torch.arange(300) != chain) for chain in range(300)])
    jackknife = float((left_out.var(unbiased=False) * 299).sqrt())
    assert difference_error(first, second) == pytest.approx(jackknife, rel=0.02)


def test_chains_stay_on_their_level_when_a_colder_one_is_added() -> None:
    """Nothing moves between levels here: a chain that starts hot never reaches the next level."""
    target = random_target(Binary(3), seed=3, roughness=1.0)
    chain = SimulatedTempering(DMALA(1.0), [1.0, 0.6, 0.3], [0.0] * 3)
    chain.rate = 0.0
    pilot = PartitionPilot(64, 40)
    # Level 1 is estimated from the hot one; of level 0 nothing can be estimated.
    with pytest.raises(ValueError, match=r"partition function of level 0 \(beta=1\) rests on"):
        piloted(lambda run: PARTITIONS["inductive"](run, chain, pilot), target, Streams([1], "tuning"))


@pytest.mark.parametrize("method", METHODS)
def test_degenerate_estimates_are_refused(method: str) -> None:
    """One narrow mode, and a ladder that leaps to it from a hot level, whose states are nowhere near."""
    target = GaussianMixture([[30.0] * 8], covariance=1e-4)
    sampler = configured(
        SimulatedTempering,
        GaussianWalk(1.0),
        ladder=[1.0, 1e-5],
        partition=method,
        step_size=[0.003, 3.0],
        pilot=PartitionPilot(chains=16, steps=20),
    )
    assert isinstance(sampler, Tunable)
    with pytest.raises(ValueError, match=r"partition function of level \d \(beta=.*\) rests on") as error:
        sampler.tune(target, Streams([0], "tuning"))
    assert "\n" not in str(error.value)


def test_gains_are_one_first_and_in_the_end_those_of_the_best_rate() -> None:
    gains = [gain(step, levels=10, slow=5_000) for step in range(1, 100_001)]
    assert gains[0] == 1.0
    assert all(late <= early for early, late in pairwise(gains))
    assert gains[-1] == pytest.approx(10 / 96_000, rel=0.02)


@pytest.mark.parametrize(
    ("distance", "levels", "eta"),
    [(5, 5, 405), (10, 8, 1688), (15, 9, 3837), (20, 10, 6880), (30, 12, 15711), (40, 13, 28111)],
)
def test_the_coarse_ladder_and_step_are_the_experiments(distance: float, levels: int, eta: float) -> None:
    """settings F: L and eta = R^2 at epsilon = 0.1."""
    mixture = mixture_of(stmh_two_modes(distance))
    assert (mixture.distance, mixture.kappa) == (pytest.approx(distance / 2), 1.0)
    ladder = stmh_ladder(mixture)
    assert len(ladder) == levels
    assert radius(mixture, levels) ** 2 == pytest.approx(eta, abs=0.6)


@pytest.mark.parametrize("kind", ["coarse", "fine"])
@pytest.mark.parametrize("norm", [0.0, 1.5, 20.0])
def test_ladders_keep_the_conditions(kind: str, norm: float) -> None:
    mixture = Mixture(norm, smallest_weight=0.2, gamma_min=0.5, gamma_max=2.0, d=3)
    ladder = stmh_ladder(mixture, kind)
    ratios = [cold / hot for cold, hot in pairwise(ladder)]
    assert ladder[0] == 1.0
    assert max(ratios) <= min(1 + 1 / math.sqrt(3), largest_ratio(mixture, kind)) * (1 + 1e-9)
    if norm > 0:
        assert ladder[-1] == pytest.approx(0.5 / mixture.distance**2)
        # With a level less the ratio would be too large.
        assert ladder[-1] ** (-1 / (len(ladder) - 2)) > largest_ratio(mixture, kind)
    if kind == "fine":
        nu = 1 + math.log(4.0) + 2 / 3 * math.log(10.0)
        assert max(ratios) <= 1 + 0.5 / (mixture.distance**2 + 2 * 2.0 * 3 * nu) + 1e-9


def test_a_mixture_with_covariances_of_its_own_tells_its_eigenvalues() -> None:
    covariances = [[[2.0, 0.0], [0.0, 0.5]], [[1.0, 0.9], [0.9, 1.0]]]
    mixture = mixture_of(GaussianMixture([[3.0, 4.0], [0.0, 1.0]], [0.3, 0.7], covariances))
    assert (mixture.norm, mixture.smallest_weight, mixture.d) == (pytest.approx(5.0), pytest.approx(0.3), 2)
    assert (mixture.gamma_min, mixture.gamma_max) == (pytest.approx(0.1), pytest.approx(2.0))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1.0, 0.5, 1.0, 1.0, 2), "norm"),
        ((1.0, 0.0, 1.0, 1.0, 2), "smallest_weight"),
        ((1.0, 0.5, 2.0, 1.0, 2), "gamma_max must be at least gamma_min=2"),
        ((1.0, 0.5, 1.0, 1.0, 0), "d must be a whole number"),
    ],
)
def test_impossible_mixtures_are_refused(arguments: tuple[float, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Mixture(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(("chains", "steps"), [(1, 200), (256, 7), (2.5, 200)])
def test_pilots_too_small_are_refused(chains: int, steps: int) -> None:
    with pytest.raises(ValueError, match="pilot"):
        PartitionPilot(chains, steps)


def test_rounds_too_short_for_an_autocorrelation_time_state_no_interval() -> None:
    sampler = configured(
        SimulatedTempering,
        GaussianWalk(0.5),
        ladder=[1.0, 0.9, 0.8],
        pilot=PartitionPilot(chains=64, steps=8, burn_in=0.0),
    )
    assert isinstance(sampler, Tunable)
    report = sampler.tune(stmh_two_modes(2.0), Streams([0], "tuning")).report
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["partition_burn_in"] == [4, 4]
    assert report["partition_autocorrelation_time"] == [None, None]
    assert "log_partition_interval" not in report


def test_levels_far_apart_state_no_interval_and_are_warned_of() -> None:
    """Of 15 pilots at a spread of 3 six had intervals without the true log Z, off by a nat in the mean."""
    sampler = configured(
        SimulatedTempering, configured(DMALA), ladder=[1.0, 0.5, 0.0], step_size=[0.5, 1.0, 5.0]
    )
    assert isinstance(sampler, Tunable)
    for spread, said in ((3.0, True), (0.5, False)):
        report = sampler.tune(IndependentBits(64, spread=spread), Streams([0], "tuning")).report
        assert ("log_partition_interval" not in report) is said
        assert any("may be off by nats" in each for each in report.get("warnings", ())) is said
