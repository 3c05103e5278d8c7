"""Thermodynamic integration along a ladder: its rule against a loop, its estimate against exact log Z."""

from __future__ import annotations

import math

import pytest
import torch

from metrics import MetricSuite, ThermodynamicIntegration, UnsupportedMetric
from metrics.likelihood.target_log_partition import exact_log_partition
from metrics.metric import Context
from samplers import Gibbs, Kernel, ParallelTempering, TourSwap
from samplers.kernel import Info
from targets import TSP, Binary, Ising, Ordinal, Streams, Target
from tests.support.steps.stepping import ONE, started
from tests.support.targets.small_targets import random_target

BINARY = random_target(Binary(6), seed=4, roughness=1.5)
LADDER = [1.0, 0.75, 0.5, 0.25, 0.0]


def context(target: Target, kernel: Kernel, seeds: int = 2, chains: int = 3) -> Context:
    return Context(target, kernel, seeds, chains, torch.device("cpu"))


def test_the_rule_is_the_corrected_trapezoid_of_the_rungs_means() -> None:
    """Any numbers as U: means and variances by a loop."""
    kernel = ParallelTempering(Gibbs(), LADDER)
    suite = MetricSuite(context(BINARY, kernel), {"log_z": ThermodynamicIntegration})
    drawn = torch.randn((7, 5, 2, 3), generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 40
    for step, slopes in enumerate(drawn, 1):
        suite.update(step, torch.zeros(2, 3, 6), Info(torch.ones(2, 3), torch.ones(2, 3), 1, slopes=slopes))
    found = suite.result()
    for seed in range(2):
        means = [float(drawn[:, k, seed].mean()) for k in range(5)]
        variances = [float(drawn[:, k, seed].var(correction=0)) for k in range(5)]
        plain = 6 * math.log(2) + sum(0.25 * (means[k] + means[k + 1]) / 2 for k in range(4))
        assert float(found["log_z_trapezoid"][seed]) == pytest.approx(plain, rel=1e-12)
        corrected = plain - sum(0.0625 * (variances[k] - variances[k + 1]) / 12 for k in range(4))
        assert float(found["log_z"][seed]) == pytest.approx(corrected, rel=1e-12)
        assert float(found["log_z_exact"][seed]) == pytest.approx(exact_log_partition(BINARY))


def test_merged_suites_equal_one_pass() -> None:
    kernel = ParallelTempering(Gibbs(), LADDER)
    whole, *parts = (
        MetricSuite(context(BINARY, kernel), {"log_z": ThermodynamicIntegration}) for _ in range(4)
    )
    drawn = torch.randn((9, 5, 2, 3), generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 40
    for step, slopes in enumerate(drawn, 1):
        info = Info(torch.ones(2, 3), torch.ones(2, 3), 1, slopes=slopes * step)
        for suite in (whole, parts[1] if step < 4 else parts[2]):
            suite.update(step, torch.zeros(2, 3, 6), info)
    merged = parts[0]  # of no steps
    merged.merge(parts[1])
    merged.merge(parts[2])
    for name, expected in whole.result().items():
        torch.testing.assert_close(merged.result()[name], expected, rtol=1e-12, atol=0)


def test_the_estimate_of_a_run_is_log_z() -> None:
    """8 seeds; the mean within 5 standard errors and 0.01, the rule's own error on this ladder."""
    kernel = ParallelTempering(Gibbs(), LADDER)
    suite = MetricSuite(context(BINARY, kernel, 8, 50), {"log_z": ThermodynamicIntegration})
    streams = Streams(range(8), "chain")
    state = started(kernel, BINARY, (8, 50), streams)
    for step in range(1, 301):
        state, info = kernel.step(BINARY, state, ONE, streams)
        torch.testing.assert_close(info.slopes, BINARY.log_prob(state.theta))
        if step > 60:
            suite.update(step, kernel.draws(state), info)
    errors = suite.result()["log_z"] - exact_log_partition(BINARY)
    assert abs(float(errors.mean())) <= 5 * float(errors.std() / math.sqrt(8)) + 0.01
    assert float(errors.abs().max()) < 0.05


def test_the_exact_value_is_that_of_a_target_that_knows_it() -> None:
    target, kernel = Ising(size=[4, 6], coupling=0.3), ParallelTempering(Gibbs(), LADDER)
    suite = MetricSuite(context(target, kernel), {"log_z": ThermodynamicIntegration})
    state = started(kernel, target, (2, 3), Streams(range(2), "chain"))
    state, info = kernel.step(target, state, ONE, Streams(range(2), "chain"))
    suite.update(1, kernel.draws(state), info)
    assert float(suite.result()["log_z_exact"][0]) == pytest.approx(float(target.log_partition()))


def test_log_z_of_as_many_sites_of_the_infinite_lattice_stands_beside() -> None:
    """Above the transition's temperature log Z of 64 x 64 spins is the same to 1e-5 nats."""
    target, ones = Ising(size=64, coupling=0.3), torch.ones(2, 3)
    suite = MetricSuite(
        context(target, ParallelTempering(Gibbs(), LADDER)), {"log_z": ThermodynamicIntegration}
    )
    suite.update(1, torch.zeros(2, 3, 4096), Info(ones, ones, 1, slopes=torch.ones(5, 2, 3)))
    found = suite.result()
    assert found["log_z_infinite"].tolist() == pytest.approx(found["log_z_exact"].tolist(), abs=1e-5)


def test_other_kernels_are_refused() -> None:
    for kernel in (Gibbs(), ParallelTempering(Gibbs(), [1.0, 0.5])):
        with pytest.raises(UnsupportedMetric, match="log_z needs "):
            ThermodynamicIntegration(context(random_target(Ordinal(2, 3)), kernel))


def test_tours_are_refused_since_most_states_are_none() -> None:
    with pytest.raises(UnsupportedMetric, match=r"log_z needs a target with .* TSP is constrained"):
        ThermodynamicIntegration(context(TSP(4), ParallelTempering(TourSwap(), LADDER)))
