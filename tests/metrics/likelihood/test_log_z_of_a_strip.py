"""Slow: log Z of a 4 x 20 Ising strip within 0.05 nats of the transfer matrix, by each estimator."""

from __future__ import annotations

import pytest
import torch

from metrics import MetricSuite, ThermodynamicIntegration
from metrics.likelihood.ais_schedule import schedule
from metrics.likelihood.population_annealing import PopulationAnnealing
from metrics.metric import Context
from samplers import DMALA, ParallelTempering
from targets import Ising, Streams
from targets.reference_distribution import reference_distribution

SEEDS = range(4)
STRIP = Ising(size=[4, 20], coupling=0.4)
EXACT = float(STRIP.log_partition())


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "temperatures"), [(1.0, 1000), (0.0, 2500)], ids=["population", "ais"])
def test_annealing(threshold: float, temperatures: int) -> None:
    """All four populations together: the mean of their estimates of Z."""
    streams, like = Streams(SEEDS, "population"), STRIP.like()
    start = reference_distribution(STRIP).draws((len(SEEDS), 1000), streams, like=like)
    walk = PopulationAnnealing(STRIP, DMALA(0.25), schedule(temperatures), start, streams, threshold)
    walk.advance(walk.steps)
    estimate = float(walk.log_partition().logsumexp(0) - torch.tensor(len(SEEDS)).log())
    assert abs(estimate - EXACT) <= 0.05


@pytest.mark.slow
def test_thermodynamic_integration() -> None:
    """The mean over four seeds."""
    ladder = torch.linspace(1.0, 0.0, 15).tolist()
    kernel = ParallelTempering(DMALA(0.25), ladder).to(STRIP.like())
    suite = MetricSuite(
        Context(STRIP, kernel, len(SEEDS), 50, torch.device("cpu")), {"log_z": ThermodynamicIntegration}
    )
    streams, one = Streams(SEEDS, "chain"), torch.ones(())
    state = kernel.start(STRIP, STRIP.initial((15, len(SEEDS), 50), streams), one, streams)
    for step in range(1, 2001):
        state, info = kernel.step(STRIP, state, one, streams)
        if step > 400:
            suite.update(step, kernel.draws(state), info)
    found = suite.result()
    assert float(found["log_z_exact"][0]) == pytest.approx(EXACT)
    assert abs(float(found["log_z"].mean()) - EXACT) <= 0.05
