from __future__ import annotations

import copy

import torch
from torch import Tensor

from targets.function_target import FunctionTarget
from targets.randomness import Streams
from targets.spaces import Binary, Ordinal
from targets.synthetic.bernoulli4 import Bernoulli4
from targets.synthetic.minibatch import MinibatchLogistic
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians
from targets.target import Enumerable, ExactlySampled, HasModes, HasModeWeights, Minibatched, Target


class Quadratic(Target):
    """U = -sum_i a_i theta_i^2, with the gradient left to autograd."""

    def __init__(self) -> None:
        super().__init__()
        self.space = Ordinal(3, 5)
        self.register_buffer("curvature", torch.tensor([1.0, 2.0, 0.5]))

    def log_prob(self, theta: Tensor) -> Tensor:
        return -(self.curvature * theta.square()).sum(-1)


@torch.no_grad()
def test_the_default_gradient_is_that_of_log_prob_and_its_argument_is_not_changed() -> None:
    target = Quadratic()
    theta = target.initial((2, 7), torch.Generator().manual_seed(0))
    log_prob, grad = target.log_prob_and_grad(theta)
    assert torch.equal(log_prob, target.log_prob(theta))
    assert torch.equal(grad, -2 * target.curvature * theta)
    assert not log_prob.requires_grad
    assert not grad.requires_grad
    assert not theta.requires_grad


def test_starting_states_follow_the_targets_dtype() -> None:
    target = Quadratic()
    for dtype in (torch.float32, torch.float64):
        theta = target.to(dtype).initial((2, 7), Streams([0, 1], "start"))
        assert theta.dtype == dtype
        assert theta.shape == (2, 7, 3)
        assert target.space.contains(theta).all()


def test_a_target_without_tensors_has_the_dtype_and_device_that_it_was_brought_to() -> None:
    def plain() -> Target:
        return FunctionTarget(lambda theta: -2.5 * theta.sum(-1), Binary(3))

    assert plain().like().dtype == torch.float32
    for target in (plain().double(), plain().to(torch.float64), copy.deepcopy(plain().double())):
        theta = target.initial((2, 7), Streams([0, 1], "start"))
        assert theta.dtype == target.log_prob(theta).dtype == torch.float64
    assert plain().to("meta").like().device.type == "meta"
    assert not plain().state_dict()
    held = torch.nn.Sequential(plain()).double()
    assert held[0].like().dtype == torch.float64


def test_capabilities_are_recognised() -> None:
    capabilities = (Enumerable, ExactlySampled, HasModes, HasModeWeights, Minibatched)

    def has(target: Target) -> list[bool]:
        return [isinstance(target, capability) for capability in capabilities]

    assert has(Quadratic()) == [False, False, False, False, False]
    assert has(Bernoulli4()) == [True, True, False, False, False]
    assert has(MixtureOfGaussians()) == [True, True, True, True, False]
    assert has(MinibatchLogistic()) == [True, True, False, False, True]
