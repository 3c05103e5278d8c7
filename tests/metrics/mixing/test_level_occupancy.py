"""Level occupancy, and what becomes of other metrics where chains move between temperatures."""

from __future__ import annotations

import math
from contextlib import nullcontext

import pytest
import torch
from torch import Tensor

from metrics import (
    ESS,
    KL,
    TV,
    Context,
    KLClipped,
    LevelOccupancy,
    LogMeanGap,
    Metric,
    MetricSuite,
    MMDExact,
    UnsupportedMetric,
)
from metrics.discrepancy.mmd import kernel_bandwidth
from samplers import DMALA, Gibbs, Info, SimulatedTempering
from samplers.tempering.simulated.partition_functions import PartitionPilot
from targets import Binary, Streams
from tests.support.steps.no_host_sync import NoHostSync
from tests.support.steps.stepping import ONE
from tests.support.targets.small_targets import random_target
from tests.support.tunable import tunable

TARGET = random_target(Binary(3), seed=5, roughness=2.0)
STATES = TARGET.space.states()
SEEDS, CHAINS, LEVELS = 2, 5, 3
SAMPLER = SimulatedTempering(Gibbs(), [1.0, 0.5, 0.0], log_partition=[0.0, 0.0, 0.0])


def suite_of(*metrics: type[Metric], chains: int = CHAINS) -> MetricSuite:
    run = Context(TARGET, SAMPLER, SEEDS, chains, torch.device("cpu"))
    return MetricSuite(run, {metric.name: metric for metric in metrics})


def stretch(steps: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random draws ``(steps, seeds, chains, 3)`` and levels, which favour the cold one."""
    generator = torch.Generator().manual_seed(seed)
    draws = TARGET.initial((steps, SEEDS, CHAINS), generator)
    levels = torch.rand((steps, SEEDS, CHAINS), generator=generator).square().mul(LEVELS).long()
    return draws, levels


def feed(suite: MetricSuite, draws: Tensor, levels: Tensor) -> MetricSuite:
    for step, (theta, level) in enumerate(zip(draws, levels, strict=True), 1):
        ones = torch.ones(level.shape)
        suite.update(step, theta, Info(ones, ones, 1, level=level))
    return suite


def test_shares_are_counted_by_seed() -> None:
    draws, levels = stretch(40)
    result = feed(suite_of(LevelOccupancy), draws, levels).result()
    for seed in range(SEEDS):
        listed = levels[:, seed].flatten().tolist()
        shares = [listed.count(level) / len(listed) for level in range(LEVELS)]
        assert [result[f"level_{level}"][seed].item() for level in range(LEVELS)] == pytest.approx(shares)
        assert result["level_occupancy"][seed].item() == pytest.approx(min(shares) / max(shares))
        assert result["level_occupancy_uneven"][seed].item() == 0.0


def test_a_seed_that_never_came_to_the_cold_level_has_no_distance() -> None:
    """The smoothing of `kl` alone would be the value of a uniform distribution: good on flat targets."""
    draws, levels = stretch(40)
    levels[:, 0] = 1
    for name, value in feed(suite_of(TV, KL, KLClipped), draws, levels).result().items():
        assert value.isnan().tolist() == [True, False], name


def test_uneven_by_more_than_e_squared_is_flagged() -> None:
    """A share of e^-2 / L is the limit of Lemma 22; a seed below it is flagged alone."""
    limit = math.exp(-2) / LEVELS
    draws, levels = stretch(1_000)
    levels[:] = torch.arange(1_000).reshape(-1, 1, 1) % 2
    for seed, share in enumerate((1.1 * limit, 0.9 * limit)):
        levels[: round(1_000 * share), seed] = 2
    result = feed(suite_of(LevelOccupancy), draws, levels).result()
    assert result["level_occupancy_uneven"].tolist() == [0.0, 1.0]
    never = feed(suite_of(LevelOccupancy), draws, levels.clamp(max=1)).result()
    assert never["level_occupancy_uneven"].tolist() == [1.0, 1.0]
    assert never["level_occupancy"].tolist() == [0.0, 0.0]


def test_visits_are_counted_at_the_cold_level_alone() -> None:
    draws, levels = stretch(200)
    result = feed(suite_of(TV, KL, KLClipped, LogMeanGap, MMDExact), draws, levels).result()
    place = TARGET.space.index(draws)
    pi = TARGET.probabilities()
    for seed in range(SEEDS):
        cold = place[:, seed][levels[:, seed] == 0]
        counts = torch.bincount(cold, minlength=8).double()
        distance = 0.5 * float((counts / counts.sum() - pi).abs().sum())
        assert result["tv"][seed].item() == pytest.approx(distance)
        assert result["log_mean_gap"][seed].item() == pytest.approx(math.log(2 * distance / 8))
        gap = counts / counts.sum() - pi
        kernel = torch.exp(
            -torch.cdist(STATES, STATES).square() / (2 * kernel_bandwidth(TARGET.space, None) ** 2)
        )
        assert result["mmd_exact"][seed].item() == pytest.approx(float(gap @ kernel @ gap))
        smoothed = (counts + 0.5) / (counts.sum() + 4)
        assert result["kl"][seed].item() == pytest.approx(float((pi * (pi / smoothed).log()).sum()))


def test_metrics_that_would_count_hot_states_are_refused_or_left_out() -> None:
    with pytest.raises(UnsupportedMetric, match="ess would count states of all temperature levels"):
        suite_of(ESS)
    run = Context(TARGET, SAMPLER, SEEDS, CHAINS, torch.device("cpu"))
    suite = MetricSuite(run, {"ess": ESS, "tv": TV}, optional=["ess"])
    assert list(suite.metrics) == ["tv"]
    assert "cold level" in suite.left_out["ess"]
    assert len(run.statistics) == 1


@pytest.mark.parametrize(
    ("method", "ladder", "step_size"),
    [("inductive", "auto", None), ("wang_landau", [1.0, 0.5, 0.0], [1.0, 2.0, 9.0])],
)
def test_a_tuned_run_is_even_and_its_cold_draws_are_from_the_target(
    method: str, ladder: list[float] | str, step_size: list[float] | None
) -> None:
    """TV of n independent draws from 8 states: 0.013 +- 0.004 at n = 4,000; 0.04 is over 6 sd off.

    All levels together are 0.1 or more from the target.
    """
    pilot = PartitionPilot(128, 100)
    settings = {"ladder": ladder, "partition": method, "step_size": step_size, "pilot": pilot}
    sampler = tunable(SimulatedTempering, tunable(DMALA), **settings).tuned(TARGET, Streams([0], "tuning"))
    chains, generator = 100, Streams([3, 4], "chain")
    run = Context(TARGET, sampler, SEEDS, chains, torch.device("cpu"))
    suite = MetricSuite(run, {"tv": TV, "level_occupancy": LevelOccupancy})
    state = sampler.init(TARGET, TARGET.initial((SEEDS, chains), generator), ONE)
    everything = torch.zeros(8)
    for step in range(1, 251):
        # At the first update the suite looks at the draws, for which the host waits.
        with nullcontext() if step == 51 else NoHostSync():
            state, info = sampler.step(TARGET, state, ONE, generator)
            if step > 50:
                suite.update(step, sampler.draws(state), info)
                ones = torch.ones(state.log_prob.numel())
                everything.index_add_(0, TARGET.space.index(state.theta).flatten(), ones)
    result = suite.result()
    assert (result["tv"] < 0.04).all()
    assert 0.5 * (everything / everything.sum() - TARGET.probabilities()).abs().sum() > 0.1
    assert (result["level_occupancy"] > 0.8).all()
    assert (result["level_occupancy_uneven"] == 0).all()
