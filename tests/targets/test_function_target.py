"""A plain function as a target, and what is refused before chains run on it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from targets import Binary, FunctionTarget, Real
from targets.trial.target_trial import try_target


def normal(theta: Tensor) -> Tensor:
    return -0.5 * theta.square().sum(-1)


def test_a_function_has_the_gradient_that_autograd_finds() -> None:
    target = FunctionTarget(normal, Real(3))
    theta = target.initial((2, 5), torch.Generator().manual_seed(0))
    log_prob, grad = target.log_prob_and_grad(theta)
    assert torch.equal(grad, -theta)
    assert torch.equal(log_prob, normal(theta))


def test_a_module_brings_its_precision_and_device() -> None:
    linear = torch.nn.Linear(4, 1, dtype=torch.float64)
    target = FunctionTarget(lambda theta: linear(theta).squeeze(-1), Binary(4))
    assert target.like().dtype == torch.float32  # a closure hides its module
    assert (
        FunctionTarget(torch.nn.Sequential(linear, torch.nn.Flatten(0)), Binary(4)).like().dtype
        == torch.float64
    )


@pytest.mark.parametrize("given", [(3, Real(2)), (normal, 4), (normal, Real)])
def test_what_is_no_function_or_no_space_is_refused(given: tuple[object, object]) -> None:
    with pytest.raises(TypeError, match=r"(function must be a function|space must be a space)"):
        FunctionTarget(*given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda theta: theta, r"gave log densities of shape \(2, 3\), \(2,\) was expected"),
        (lambda theta: normal(theta).sum(), r"of shape \(\), \(2,\) was expected"),
        (lambda theta: 1.0, "of shape float, "),
        (lambda theta: -normal(theta) / 0, "gave the log density .* finite numbers were expected"),
        (lambda theta: normal(theta).double(), "of type torch.float64, torch.float32 was expected"),
        (lambda theta: normal(theta.round().detach()), "gives no gradient, which the sampler needs"),
        (
            lambda theta: normal(theta) + (theta[..., 0] - theta[..., 0].detach()).abs().sqrt(),
            r"gave the gradient \[nan, nan\] in some .* initial states, .* such as gibbs, needs none\.",
        ),
        (lambda theta: normal(theta @ theta), "cannot be evaluated: RuntimeError: "),
    ],
)
def test_a_bad_log_density_is_one_sentence(function: object, sentence: str) -> None:
    target = FunctionTarget(function, Real(3))  # type: ignore[arg-type]
    theta = target.initial((2,), torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match=rf"^The target mine .*{sentence}") as refused:
        try_target("mine", target, theta, gradient=True)
    assert "\n" not in str(refused.value)


def odd_only(theta: Tensor) -> Tensor:
    """Density zero at an even number of ones."""
    return torch.where(theta.sum(-1) % 2 == 1, 0.0, -torch.inf)


def test_a_density_of_zero_needs_a_constrained_target() -> None:
    target = FunctionTarget(odd_only, Binary(4))
    theta = target.initial((50,), torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match=r"-inf to an initial state, .*space, constrained=True\)"):
        try_target("mine", target, theta, gradient=False)
    target = FunctionTarget(odd_only, Binary(4), constrained=True)
    theta = target.initial((50,), torch.Generator().manual_seed(0))
    assert bool((theta.sum(-1) % 2 == 1).all())
    try_target("mine", target, theta, gradient=False)


def test_a_density_that_is_nowhere_positive_is_one_sentence() -> None:
    target = FunctionTarget(lambda theta: theta.sum(-1) * 0 - torch.inf, Binary(2), constrained=True)
    with pytest.raises(ValueError, match="must have a positive density at some of 1000 states"):
        target.initial((3,), torch.Generator().manual_seed(0))
    with pytest.raises(TypeError, match="constrained must be True or False, 'yes' was given"):
        FunctionTarget(normal, Binary(2), constrained="yes")  # type: ignore[arg-type]
