"""Every sampler of the suite, proved or refuted by enumeration. A new sampler adds one line to SAMPLERS."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from metrics.enumeration.transition_matrix import stationary, total_variation, transition_matrix
from samplers.discrete.ab import AB
from samplers.discrete.acs import ACS
from samplers.discrete.block_gibbs import BlockGibbs
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.gibbs import Gibbs
from samplers.discrete.gwg import GWG
from samplers.discrete.hamming_ball import HammingBall
from samplers.discrete.random_walk import RandomWalk
from samplers.kernel import Kernel
from tests.support.checks import cache_error, dkw_band, invariance, largest_gap, sampled_rows
from tests.support.no_host_sync import NoHostSync
from tests.support.small_targets import SPACES, random_target

STEP_SIZES = (0.2, 1.0, 10.0)
BETAS = (1.0, 0.5, 0.1)

SAMPLERS: dict[str, Callable[[float], Kernel]] = {
    "random_walk": lambda step: RandomWalk(step_size=max(1, int(step))),
    "gibbs": lambda step: Gibbs(scan="random"),
    "gibbs_systematic": lambda step: Gibbs(scan="systematic"),
    "dmala": lambda step: DMALA(step_size=step),
    "dmala_norm_1": lambda step: DMALA(step_size=step, norm=1.0),
    "dmala_balancing": lambda step: DMALA(step_size=step, balancing=0.8),
    "dula": lambda step: DULA(step_size=step),
    "ab": lambda step: AB(step_size=step, balancing=0.6),
    "gwg": lambda step: GWG(),
    "hamming_ball": lambda step: HammingBall(block_size=2, radius=1),
    "block_gibbs": lambda step: BlockGibbs(block_size=1),
    "block_gibbs_2": lambda step: BlockGibbs(block_size=2),
    "acs": lambda step: ACS(cycle_length=4, step_size=10 * step, min_step_size=step, balancing=0.7),
}
STATES_A_STEP = {
    "gibbs": 5,
    "gibbs_systematic": 5,
    "hamming_ball": 9,
    "block_gibbs": 5,
    "block_gibbs_2": 25,
}
"""How many states of the 5 x 5 space a step evaluates, where it is more than one."""

EXACT = [name for name, make in SAMPLERS.items() if make(1.0).exact]
INEXACT = [name for name, make in SAMPLERS.items() if not make(1.0).exact]


def positions(kernel: Kernel, space: str) -> list[dict[str, torch.Tensor] | None]:
    """What a kernel may carry besides theta: each position of its cycle, or nothing."""
    if isinstance(kernel, ACS):
        return [{"position": torch.tensor(i)} for i in range(4)]
    if isinstance(kernel, Gibbs) and kernel.scan == "systematic":
        return [{"position": torch.tensor(i)} for i in range(SPACES[space].d)]
    return [None]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", EXACT)
def test_exact_kernels_leave_the_target_invariant(name: str, space: str) -> None:
    target = random_target(SPACES[space], seed=3)
    for beta in BETAS:
        for step_size in STEP_SIZES:
            kernel = SAMPLERS[name](step_size)
            for aux in positions(kernel, space):
                assert invariance(kernel, target, beta, aux) <= 1e-12


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", SAMPLERS)
def test_rows_of_the_transition_matrix_sum_to_one(name: str, space: str) -> None:
    matrix = transition_matrix(SAMPLERS[name](1.0), random_target(SPACES[space], seed=3))
    assert (matrix >= -1e-15).all()
    torch.testing.assert_close(
        matrix.sum(-1), torch.ones(len(matrix), dtype=torch.float64), atol=1e-12, rtol=0
    )


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", SAMPLERS)
def test_steps_are_drawn_from_the_enumerated_rows(name: str, space: str) -> None:
    target = random_target(SPACES[space], seed=3)
    kernel = SAMPLERS[name](1.0)
    draws = 1_000_000 if space == "binary" else 100_000
    frequencies = sampled_rows(kernel, target, 0.7, draws)
    matrix = transition_matrix(kernel, target, 0.7)
    assert largest_gap(frequencies, matrix) <= dkw_band(draws, len(matrix))


@pytest.mark.parametrize("name", SAMPLERS)
def test_cached_values_belong_to_theta(name: str) -> None:
    target = random_target(SPACES["ordinal"], seed=3)
    assert cache_error(SAMPLERS[name](1.0), target, 0.7) <= 1e-12


@pytest.mark.parametrize("name", INEXACT)
def test_inexact_kernels_are_biased_as_their_own_law_says(name: str) -> None:
    target = random_target(SPACES["binary"], seed=3)
    kernel = SAMPLERS[name](1.0)
    own = stationary(transition_matrix(kernel, target))
    assert total_variation(own, target.probabilities()) > 0.01
    end = sampled_rows(kernel, target, 1.0, draws=50_000, steps=40).mean(0)
    # 400,000 chains that have forgotten their start: the total variation noise is about 0.001.
    assert total_variation(end, own) <= 0.01


@pytest.mark.parametrize("name", SAMPLERS)
def test_one_evaluation_of_the_target_a_step(name: str) -> None:
    target = random_target(SPACES["ordinal"], seed=3)
    calls = {"states": 0}
    plain, with_grad = target.log_prob, target.log_prob_and_grad

    def log_prob(theta: torch.Tensor) -> torch.Tensor:
        calls["states"] += theta[..., 0].numel()
        return plain(theta)

    def log_prob_and_grad(theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        calls["states"] += theta[..., 0].numel()
        before = calls["states"]
        result = with_grad(theta)
        calls["states"] = before
        return result

    target.log_prob, target.log_prob_and_grad = log_prob, log_prob_and_grad  # type: ignore[method-assign]
    kernel = SAMPLERS[name](1.0)
    beta = torch.ones((), dtype=torch.float64)
    state = kernel.init(target, target.initial((4,), torch.Generator().manual_seed(0)), beta)
    calls["states"] = 0
    _, info = kernel.step(target, state, beta, torch.Generator().manual_seed(0))
    expected = STATES_A_STEP.get(name, 1)
    assert info.evaluations == expected
    assert calls["states"] == expected * 4


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", SAMPLERS)
def test_a_step_never_leaves_the_device(name: str, space: str) -> None:
    target = random_target(SPACES[space], seed=3)
    beta = torch.ones((), dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    kernel = SAMPLERS[name](1.0)
    state = kernel.init(target, target.initial((4,), generator), beta)
    with NoHostSync():
        for _ in range(5):
            state, _ = kernel.step(target, state, beta, generator)
