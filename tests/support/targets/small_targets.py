"""Small targets with random energies, for proofs by enumeration."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from targets import RBM, Binary, Categorical, Discrete, Ordinal, Target
from targets.randomness import Generator, uniform

SPACES: dict[str, Discrete] = {
    "binary": Binary(3),
    "ordinal": Ordinal(2, 5),
    "categorical": Categorical(2, 3),
}


class Quadratic(Target):
    """U = x'Wx + b'x on the flattened state: a rugged target with a gradient that is right everywhere."""

    def __init__(self, space: Discrete, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.space = space
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)

    def log_prob(self, theta: Tensor) -> Tensor:
        flat = theta.flatten(-len(self.space.event_shape))
        return ((flat @ self.weight) * flat).sum(-1) + flat @ self.bias

    def log_prob_and_differences(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        levels, here = self.space.to_levels(theta), self.log_prob(theta)
        binary = isinstance(self.space, Binary)
        sites = []
        for site in range(self.space.d):
            others = [1 - levels[..., site]] if binary else range(self.space.levels)
            moved = []
            for level in others:
                there = levels.clone()
                there[..., site] = level
                moved.append(self.log_prob(self.space.from_levels(there, theta.dtype)) - here)
            sites.append(moved[0] if binary else torch.stack(moved, -1))
        return here, torch.stack(sites, -1 if binary else -2)

    def probabilities(self) -> Tensor:
        return self.log_prob(self.space.states()).double().softmax(-1)

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        cumulative = self.probabilities().cumsum(0)
        draws = uniform(generator, shape, like=cumulative)
        return self.space.states(self.bias.dtype)[
            torch.searchsorted(cumulative, draws).clamp(max=len(cumulative) - 1)
        ]


def random_target(space: Discrete, seed: int = 0, roughness: float = 1.0) -> Quadratic:
    """A target with normal couplings and biases, scaled so that ordinal levels do not blow it up."""
    generator = torch.Generator().manual_seed(seed)
    size = 1
    for length in space.event_shape:
        size *= length
    scale = roughness / (space.levels - 1) if isinstance(space, Ordinal) else roughness
    weight = torch.randn((size, size), generator=generator, dtype=torch.float64) * scale**2 / size**0.5
    bias = torch.randn(size, generator=generator, dtype=torch.float64) * scale
    return Quadratic(space, 0.5 * (weight + weight.T), bias)


class TwoHills(Target):
    """Six levels, with modes at both ends, and a third mode that is the most responsible nowhere."""

    space: Ordinal

    def __init__(self, steepness: float = 0.45) -> None:
        super().__init__()
        self.space, self.steepness = Ordinal(1, 6), steepness
        self.modes = torch.tensor([[0.0], [5.0], [0.0]])

    def log_prob(self, theta: Tensor) -> Tensor:
        return self.steepness * (theta[..., 0] - 2.4).square()

    def responsibilities(self, theta: Tensor) -> Tensor:
        return (-(theta.unsqueeze(-2) - self.modes)[..., 0].abs()).softmax(-1)


def small_rbm(n_visible: int = 8, n_hidden: int = 5, scale: float = 4.0, held_out: int = 0) -> RBM:
    """An RBM with weights of order one and hidden biases of both signs, in float64.

    It holds out the first `held_out` of its states.
    """
    target = RBM(n_visible, n_hidden, mean=torch.linspace(0.2, 0.7, n_visible), seed=2)
    target.requires_grad_(False)
    target.weight.mul_(scale)
    target.hidden_bias.copy_(torch.linspace(-1.0, 1.0, n_hidden))
    if held_out:
        target.held_out = target.space.states()[:held_out]
    return target
