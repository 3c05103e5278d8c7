"""The released step of PT-DLP: its two defects, by hand, and the same numbers from tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from samplers import ParallelTempering, Swaps
from samplers.discrete.released_dmala import ReleasedDMALA
from samplers.kernel import State, evaluate
from samplers.proposals.discrete_langevin import LangevinProposal
from targets.synthetic.grid_mixture import GridMixture
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians
from targets.synthetic.mixture_of_student_t import MixtureOfStudentT

BETAS = torch.tensor([1.0, 0.6, 0.0], dtype=torch.float64)


def moves() -> tuple[MixtureOfStudentT, State, State]:
    target = MixtureOfStudentT(8, energy="released")
    theta = torch.randint(0, 101, (2, 3, 50, 2), generator=torch.Generator().manual_seed(1)).double()
    here, there = (evaluate(target, each, gradient=True) for each in theta)
    return target, here, there


@pytest.mark.parametrize("prepared", [False, True])
def test_the_energies_are_not_tempered_and_the_reverse_gradient_is_scaled_twice(prepared: bool) -> None:
    target, here, there = moves()
    beta = BETAS.unsqueeze(-1)
    kernel = ReleasedDMALA(400.0).to(target.like())
    forward = kernel.proposal.log_prob(target.space, here, there.theta, beta)
    assert there.grad is not None
    twice = State(there.theta, there.log_prob, 0.5 * beta.unsqueeze(-1) * there.grad)
    reverse = LangevinProposal(torch.tensor(400.0).double()).log_prob(target.space, twice, here.theta, beta)
    expected = (there.log_prob - here.log_prob + reverse - forward).clamp(max=0.0)
    if prepared:
        faster = ParallelTempering(kernel, BETAS).prepared(target, torch.ones((), dtype=torch.float64)).tables
        assert isinstance(faster, ReleasedDMALA)
        kernel = faster
    found = kernel.log_acceptance(target.space, here, there, beta)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
    assert expected.min() < -1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("target", "predicted"), [(MixtureOfGaussians, 0.050), (MixtureOfStudentT, 0.051)])
def test_the_released_sampler_is_at_the_floor_of_its_draws(
    target: Callable[..., GridMixture], predicted: float
) -> None:
    """KL of 1e5 draws, half a draw added to every cell: what the audit predicts, within a twentieth."""
    grid = target(8, energy="released").to(torch.float32)
    swaps = Swaps("released", "sequential", 0.99)
    released = ParallelTempering(ReleasedDMALA((0.4 * 101) ** 4), [1.0, 0.75, 0.5, 0.25, 0.0], swap=swaps)
    one, generator = torch.ones(()), torch.Generator().manual_seed(0)
    sampler = released.to(grid.like()).prepared(grid, one)
    state = sampler.init(grid, grid.initial((5, 1, 100), generator), one)
    counts = torch.zeros(grid.space.size, dtype=torch.float64)
    for _ in range(1_000):
        state, _ = sampler.step(grid, state, one, generator)
        counts += torch.bincount(grid.space.index(sampler.draws(state)).flatten(), minlength=len(counts))
    pi, visits = grid.probabilities(), counts + 0.5
    kl = float((pi * (pi / (visits / visits.sum())).log()).sum())
    assert kl == pytest.approx(predicted, rel=0.05)
