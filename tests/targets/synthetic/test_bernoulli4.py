from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from targets import Bernoulli4, Binary, HasFlatStates, HasHessians
from targets.synthetic.bernoulli4 import multilinear_gradient, multilinear_hessian

PRINTED = [
    *(0.07688, 0.04725, 0.12500, 0.01667, 0.08688, 0.07688, 0.07688, 0.16756),
    *(0.04725, 0.05825, 0.01667, 0.04725, 0.07688, 0.04725, 0.01900, 0.01335),
]
OTHER = torch.randn(8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
TABLES = {
    "the paper's": (Binary(4), Bernoulli4().probabilities().log()),
    "in 3 dimensions": (Binary(3), OTHER),
}


def extension(log_p: Tensor, theta: Tensor) -> Tensor:
    """EDLP 6.1: U(theta) = sum_a prod_n theta_n^a_n (1 - theta_n)^(1 - a_n) ln p_a, for one real theta."""
    total = torch.zeros((), dtype=torch.float64)
    for corner, value in zip(itertools.product((0, 1), repeat=len(theta)), log_p, strict=True):
        for coordinate, bit in enumerate(corner):
            value = value * (theta[coordinate] if bit else 1 - theta[coordinate])
        total = total + value
    return total


def hessians_by_autograd(log_p: Tensor, states: Tensor) -> Tensor:
    return torch.stack(
        [torch.autograd.functional.hessian(lambda theta: extension(log_p, theta), state) for state in states]
    )


def test_probabilities_are_the_printed_ones_in_the_printed_order() -> None:
    probabilities = Bernoulli4().probabilities()
    assert abs(probabilities.sum().item() - 1) < 1e-15
    corners = torch.tensor(list(itertools.product((0, 1), repeat=4)), dtype=torch.float64)
    cut = probabilities[Binary(4).index(corners)] - torch.tensor(PRINTED, dtype=torch.float64)
    # The paper truncates its digits.
    assert ((cut > -1e-8) & (cut < 1e-5)).all()


@pytest.mark.parametrize("name", TABLES)
def test_gradients_and_hessians_are_those_of_the_multilinear_extension(name: str) -> None:
    space, table = TABLES[name]
    for place, state in enumerate(space.states()):
        theta = state.clone().requires_grad_(True)
        value = extension(table, theta)
        (slope,) = torch.autograd.grad(value, theta)
        torch.testing.assert_close(value.detach(), table[place], rtol=1e-14, atol=0)
        assert torch.allclose(multilinear_gradient(space, table)[place], slope, rtol=0, atol=1e-14)
    expected = hessians_by_autograd(table, space.states())
    assert torch.allclose(multilinear_hessian(space, table), expected, rtol=0, atol=1e-12)


def test_the_target_is_the_multilinear_extension() -> None:
    target = Bernoulli4()
    space, table = TABLES["the paper's"]
    value, grad = target.log_prob_and_grad(space.states())
    assert torch.allclose(value, table, rtol=1e-14, atol=0)
    assert torch.equal(grad, multilinear_gradient(space, value))
    found = target.hessians()
    assert found.dtype == torch.float64
    assert torch.equal(found, multilinear_hessian(space, table))
    assert torch.equal(found.diagonal(dim1=-2, dim2=-1), torch.zeros(16, 4, dtype=torch.float64))
    assert torch.equal(target.float().hessians(), found)


def test_the_spectrum_of_the_hessian_has_the_published_spread() -> None:
    """settings E.1: eigenvalues weighted by pi have the standard deviation 2.646 and the IQR 3.224."""
    target = Bernoulli4()
    hessians = hessians_by_autograd(target.probabilities().log(), target.space.states())
    eigenvalues = torch.linalg.eigvalsh(hessians).flatten()
    weights = target.probabilities().repeat_interleave(4) / 4
    mean = weights @ eigenvalues
    assert abs((weights @ (eigenvalues - mean).square()).sqrt().item() - 2.646) < 5e-4
    ordered, order = eigenvalues.sort()
    cumulative = weights[order].cumsum(0)
    lower, upper = (ordered[int((cumulative < level).sum())].item() for level in (0.25, 0.75))
    assert abs(upper - lower - 3.224) < 5e-4


def test_the_named_states_are_flat_and_sharp() -> None:
    """All neighbours of a sharp state are less probable, on average by more than those of a flat one."""
    target = Bernoulli4()
    assert isinstance(target, HasHessians)
    for name in ("flat_states", "sharp_states"):
        assert name in HasFlatStates.__annotations__
        assert getattr(target, name).shape == (2, 4)
    probabilities = target.probabilities()

    def drops(states: Tensor) -> Tensor:
        neighbours = (states.unsqueeze(1) - torch.eye(4, dtype=torch.float64)).abs()
        here, there = (probabilities[target.space.index(each)] for each in (states, neighbours))
        return (here.unsqueeze(-1) / there).log()

    flat, sharp = drops(target.flat_states), drops(target.sharp_states)
    assert (sharp > 0).all()
    assert sharp.mean(-1).min() > flat.mean(-1).max()
