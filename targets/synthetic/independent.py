"""Independent coordinates in any number: bits, and coordinates with several levels."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from targets.checks import positive_number, whole_number
from targets.multilinear import Multilinear
from targets.randomness import Generator, derive_seed, draw_index, normal, uniform
from targets.spaces import Binary, Categorical
from targets.sum_log import softplus


def drawn_logits(shape: Sequence[int], spread: float, seed: int) -> Tensor:
    """Normal numbers ``(*shape)`` with mean 0 and standard deviation `spread`, float64."""
    if spread != 0:
        positive_number("spread", spread, "a number of at least 0")
    generator = torch.Generator().manual_seed(derive_seed(whole_number("instance_seed", seed, 0), "logits"))
    return normal(generator, shape, like=torch.empty(0, dtype=torch.float64), std=spread)


class IndependentBits(Multilinear):
    """U = sum_i a_i theta_i: bits that are 1 with the probability 1 / (1 + e^-a_i), normal a_i.

    Spaces: binary.
    Source: DISCS (Goshvadi et al. 2023), Eq. 9, the Bernoulli model.

    Args:
        d: number of bits.
        spread: standard deviation of a_i; 0 makes each bit 1 with the probability 1/2.
        instance_seed: of a_i.

    Attributes:
        logits: a, ``(d,)``.
    """

    space: Binary
    logits: Tensor

    def __init__(self, d: int = 100, spread: float = 1.0, instance_seed: int = 0) -> None:
        super().__init__()
        self.space = Binary(whole_number("d", d))
        self.register_buffer("logits", drawn_logits((d,), spread, instance_seed))

    def log_prob(self, theta: Tensor) -> Tensor:
        return (theta * self.logits).sum(-1)

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        return self.log_prob(theta), self.logits.expand(theta.shape).clone()

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent draws ``(*shape, d)``."""
        return (uniform(generator, shape, (self.space.d,), like=self.logits) < self.logits.sigmoid()).to(
            self.logits
        )

    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        """log sum exp(beta U), exact, a scalar, float64."""
        return softplus(beta * self.logits.double()).sum()


class IndependentLevels(Multilinear):
    """U = sum_i a_i[x_i]: one-hot coordinates with the probabilities softmax(a_i), normal a_i.

    Spaces: categorical.
    Source: DISCS (Goshvadi et al. 2023), Eq. 9, the categorical model.

    Args:
        d: number of coordinates.
        levels: of each of them.
        spread: standard deviation of a_i; 0 makes all levels equally likely.
        instance_seed: of a_i.

    Attributes:
        logits: a, ``(d, levels)``.
    """

    space: Categorical
    logits: Tensor

    def __init__(self, d: int = 100, levels: int = 4, spread: float = 1.0, instance_seed: int = 0) -> None:
        super().__init__()
        self.space = Categorical(whole_number("d", d), whole_number("levels", levels, 2))
        self.register_buffer("logits", drawn_logits((d, levels), spread, instance_seed))

    def log_prob(self, theta: Tensor) -> Tensor:
        return (theta * self.logits).flatten(-2).sum(-1)

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        return self.log_prob(theta), self.logits.expand(theta.shape).clone()

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent draws ``(*shape, d, levels)``."""
        numbers = uniform(generator, shape, (self.space.d,), like=self.logits)
        levels = draw_index(self.logits.softmax(-1), numbers)
        return self.space.from_levels(levels, self.logits.dtype)

    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        """log sum exp(beta U), exact, a scalar, float64."""
        return (beta * self.logits.double()).logsumexp(-1).sum()
