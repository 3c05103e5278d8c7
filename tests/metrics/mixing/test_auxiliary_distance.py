"""The distance between theta and theta_a, against a loop over the states that a kernel went through."""

from __future__ import annotations

import math

import pytest
import torch

from metrics.metric import Context, UnsupportedMetric
from metrics.mixing.auxiliary_distance import AuxiliaryDistance
from metrics.suite import MetricSuite
from samplers.discrete.dmala import DMALA
from samplers.entropic.edmala import EDMALA
from samplers.entropic.edmala_glu import EDMALAGLU
from samplers.kernel import Kernel
from samplers.proposals.entropic_langevin import THETA_A
from samplers.tempering.parallel_tempering import ParallelTempering
from targets.randomness import Streams
from tests.support.small_targets import SPACES, random_target

ONE = torch.ones((), dtype=torch.float64)
SEEDS, CHAINS, STEPS = 2, 3, 7


def measured(kernel: Kernel, space: str) -> tuple[dict[str, torch.Tensor], list[list[float]]]:
    """What the metric says, and the distances of each seed by hand."""
    target, streams = random_target(SPACES[space], seed=3), Streams(range(SEEDS), "test")
    suite = MetricSuite(
        Context(target, kernel, SEEDS, CHAINS, torch.device("cpu")), {"auxiliary_distance": AuxiliaryDistance}
    )
    state = kernel.init(target, target.initial((*kernel.axes, SEEDS, CHAINS), streams), ONE)
    seen: list[list[float]] = [[] for _ in range(SEEDS)]
    for step in range(STEPS):
        state, info = kernel.step(target, state, ONE, streams)
        theta = kernel.draws(state)
        suite.update(step, theta, info)
        theta_a = state.aux[THETA_A][0] if kernel.axes else state.aux[THETA_A]
        for seed in range(SEEDS):
            for chain in range(CHAINS):
                pairs = zip(theta[seed, chain].flatten(), theta_a[seed, chain].flatten(), strict=True)
                seen[seed].append(math.sqrt(sum(float(a - b) ** 2 for a, b in pairs)))
    return suite.result(), seen


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("replicas", [0, 2])
def test_it_is_the_mean_over_steps_and_chains(space: str, replicas: int) -> None:
    kernel: Kernel = EDMALA(1.0, 0.7, 0.3)
    if replicas:
        kernel = ParallelTempering(kernel, ladder=[1.0, 0.5], step_size=1.0)
    found, seen = measured(kernel, space)
    for seed in range(SEEDS):
        assert float(found["auxiliary_distance"][seed]) == pytest.approx(sum(seen[seed]) / len(seen[seed]))


def test_under_the_glu_update_it_is_about_the_root_of_eta_d_for_many_coordinates() -> None:
    """theta_a is drawn before theta moves, so that |theta - theta_a|^2 is eta d plus what the move adds."""
    found, _ = measured(EDMALAGLU(0.02, 4.0), "binary")
    assert 0.5 * math.sqrt(12) < float(found["auxiliary_distance"].mean()) < 1.5 * math.sqrt(12)


def test_a_sampler_without_the_variable_is_refused() -> None:
    target = random_target(SPACES["binary"], seed=3)
    with pytest.raises(
        UnsupportedMetric, match="auxiliary_distance needs a sampler with an auxiliary variable"
    ):
        AuxiliaryDistance(Context(target, DMALA(1.0), 1, 1, torch.device("cpu")))
