"""The flat and sharp states of the 16-state law, and its Hessians by autograd."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from targets.spaces import Binary
from targets.synthetic.bernoulli4 import Bernoulli4, multilinear_hessian
from targets.target import HasFlatStates, HasHessians


def extension(log_p: Tensor, theta: Tensor) -> Tensor:
    """EDLP 6.1: U(theta) = sum_a prod_n theta_n^a_n (1 - theta_n)^(1 - a_n) ln p_a, for one real theta."""
    total = torch.zeros((), dtype=torch.float64)
    for corner, value in zip(itertools.product((0, 1), repeat=len(theta)), log_p, strict=True):
        for coordinate, bit in enumerate(corner):
            value = value * (theta[coordinate] if bit else 1 - theta[coordinate])
        total = total + value
    return total


def by_autograd(log_p: Tensor, states: Tensor) -> Tensor:
    return torch.stack(
        [torch.autograd.functional.hessian(lambda theta: extension(log_p, theta), state) for state in states]
    )


def test_hessians_are_those_of_the_multilinear_extension() -> None:
    target = Bernoulli4()
    expected = by_autograd(target.probabilities().log(), target.space.states())
    found = target.hessians()
    assert found.dtype == torch.float64
    assert torch.allclose(found, expected, rtol=0, atol=1e-12)
    assert torch.equal(found.diagonal(dim1=-2, dim2=-1), torch.zeros(16, 4, dtype=torch.float64))
    assert torch.allclose(found, found.mT, rtol=0, atol=1e-14)


def test_hessians_hold_in_other_dimensions() -> None:
    table = torch.randn(8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = multilinear_hessian(Binary(3), table)
    assert torch.allclose(found, by_autograd(table, Binary(3).states()), rtol=0, atol=1e-12)


def test_hessians_are_not_rounded_with_the_target() -> None:
    assert torch.equal(Bernoulli4().float().hessians(), Bernoulli4().hessians())


def test_the_named_states_are_flat_and_sharp() -> None:
    """All neighbours of a sharp state are less probable, on average by more than those of a flat one."""
    target = Bernoulli4()
    assert isinstance(target, HasHessians)
    for name in ("flat_states", "sharp_states"):
        assert name in HasFlatStates.__annotations__
        assert getattr(target, name).shape == (2, 4)
    probabilities = target.probabilities()

    def drops(states: Tensor) -> Tensor:
        flips = torch.eye(4, dtype=torch.float64)
        neighbours = (states.unsqueeze(1) - flips).abs()
        here, there = (probabilities[target.space.index(each)] for each in (states, neighbours))
        return (here.unsqueeze(-1) / there).log()

    flat, sharp = drops(target.flat_states), drops(target.sharp_states)
    assert (sharp > 0).all()
    assert sharp.mean(-1).min() > flat.mean(-1).max()


def test_the_extended_gradient_changes_by_the_hessian() -> None:
    """Along one coordinate the gradient is linear: its change is a column of the Hessian."""
    target = Bernoulli4()
    hessians = target.hessians()
    for place, state in enumerate(target.space.states()):
        for coordinate in range(4):
            off, on = state.clone(), state.clone()
            off[coordinate], on[coordinate] = 0, 1
            change = target.log_prob_and_grad(on)[1] - target.log_prob_and_grad(off)[1]
            assert torch.allclose(change, hessians[place, coordinate], rtol=0, atol=1e-12)
