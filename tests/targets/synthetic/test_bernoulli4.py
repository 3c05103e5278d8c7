from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

from targets.spaces import Binary
from targets.synthetic.bernoulli4 import Bernoulli4, multilinear_gradient

CORNERS = list(itertools.product((0, 1), repeat=4))
PRINTED = [
    *(0.07688, 0.04725, 0.12500, 0.01667, 0.08688, 0.07688, 0.07688, 0.16756),
    *(0.04725, 0.05825, 0.01667, 0.04725, 0.07688, 0.04725, 0.01900, 0.01335),
]


def extension(log_p: Tensor, theta: Tensor) -> Tensor:
    """EDLP 6.1: U(theta) = sum_a prod_n theta_n^a_n (1 - theta_n)^(1 - a_n) ln p_a, for one real theta."""
    total = torch.zeros((), dtype=torch.float64)
    for corner, value in zip(itertools.product((0, 1), repeat=len(theta)), log_p, strict=True):
        for coordinate, bit in enumerate(corner):
            value = value * (theta[coordinate] if bit else 1 - theta[coordinate])
        total = total + value
    return total


def test_probabilities_are_the_printed_ones_in_the_printed_order() -> None:
    probabilities = Bernoulli4().probabilities()
    assert abs(probabilities.sum().item() - 1) < 1e-15
    for corner, printed in zip(CORNERS, PRINTED, strict=True):
        place = Binary(4).index(torch.tensor(corner, dtype=torch.float64))
        # The paper cuts its digits off.
        assert -1e-8 < probabilities[place].item() - printed < 1e-5


def test_energy_and_gradient_are_those_of_the_multilinear_extension() -> None:
    target = Bernoulli4()
    log_p = target.probabilities().log()
    for corner in CORNERS:
        theta = torch.tensor(corner, dtype=torch.float64, requires_grad=True)
        expected = extension(log_p, theta)
        (slope,) = torch.autograd.grad(expected, theta)
        value, grad = target.log_prob_and_grad(theta.detach())
        assert math.isclose(value.item(), expected.item(), rel_tol=1e-14)
        assert torch.allclose(grad, slope, rtol=0, atol=1e-14)


def test_multilinear_gradient_holds_in_other_dimensions() -> None:
    space = Binary(3)
    table = torch.randn(8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for state, grad in zip(space.states(), multilinear_gradient(space, table), strict=True):
        theta = state.clone().requires_grad_(True)
        (slope,) = torch.autograd.grad(extension(table, theta), theta)
        assert torch.allclose(grad, slope, rtol=0, atol=1e-14)


def test_the_spectrum_of_the_hessian_has_the_published_spread() -> None:
    """settings E.1: eigenvalues weighted by pi have the standard deviation 2.646 and the IQR 3.224."""
    target = Bernoulli4()
    log_p = target.probabilities().log()
    hessians = torch.stack(
        [
            torch.autograd.functional.hessian(
                lambda theta: extension(log_p, theta), torch.tensor(corner, dtype=torch.float64)
            )
            for corner in CORNERS
        ]
    )
    eigenvalues = torch.linalg.eigvalsh(hessians).flatten()
    weights = target.probabilities().repeat_interleave(4) / 4
    mean = weights @ eigenvalues
    assert abs((weights @ (eigenvalues - mean).square()).sqrt().item() - 2.646) < 5e-4
    ordered, order = eigenvalues.sort()
    cumulative = weights[order].cumsum(0)
    lower, upper = (ordered[int((cumulative < level).sum())].item() for level in (0.25, 0.75))
    assert abs(upper - lower - 3.224) < 5e-4
