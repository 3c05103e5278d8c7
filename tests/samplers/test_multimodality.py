"""What the suite is for: tempering finds every mode where a tuned local chain stays in its own."""

from __future__ import annotations

import pytest
import torch

from metrics import EMC, TV, Context, MetricSuite
from samplers import ACS, DMALA, Kernel, ParallelTempering, Tunable
from targets import Bernoulli4, MixtureOfGaussians, Streams, Target
from tests.support.tunable import tunable

ONE = torch.ones(())


def measured(
    sampler: Kernel | Tunable,
    target: Target,
    metric: type,
    steps: int,
    chains: int,
    theta: torch.Tensor | None = None,
) -> float:
    """The metric after `steps` steps of a tuned kernel, a fifth of them burn-in."""
    target = target.float()
    kernel = sampler.tuned(target, Streams([0], "tuning")) if isinstance(sampler, Tunable) else sampler
    kernel = kernel.to(target.like()).prepared(target, ONE)
    context = Context(target, kernel, seeds=1, chains=chains, device=torch.device("cpu"))
    suite = MetricSuite(context, {"metric": metric})
    generator = Streams([0], "chain")
    shape = (*kernel.axes, 1, chains)
    start = target.initial(shape, generator)
    state = kernel.init(target, start if theta is None else theta.to(start).expand_as(start).clone(), ONE)
    for step in range(steps):
        state, info = kernel.step(target, state, ONE, generator)
        if step >= steps // 5:
            suite.update(step, kernel.draws(state), info)
    return float(next(iter(suite.result().values())))


def test_tempering_covers_the_modes_that_dmala_never_finds() -> None:
    """Eight separated modes, all chains and replicas in one: emc 0.9997 against 0.11 when written."""
    target = MixtureOfGaussians(components=8)
    start = target.modes[0]
    assert measured(tunable(ParallelTempering, tunable(DMALA)), target, EMC, 1000, 100, start) >= 0.95
    assert measured(tunable(DMALA), target, EMC, 1000, 100, start) < 0.5


@pytest.mark.parametrize(
    "sampler",
    [
        tunable(ACS, steps=1000),
        tunable(ParallelTempering, tunable(DMALA)),
    ],
    ids=["acs", "pt_dmala"],
)
def test_exact_kernels_reach_the_sixteen_state_table(sampler: Kernel | Tunable) -> None:
    """1,000 chains x 1,000 steps at default hyperparameters; the Monte Carlo noise is about 0.002."""
    assert measured(sampler, Bernoulli4(), TV, 1000, 1000) <= 0.01
