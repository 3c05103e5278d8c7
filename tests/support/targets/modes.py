"""Targets for the tests of metrics: a table with modes, and one that offers nothing but its density."""

from __future__ import annotations

import torch
from torch import Tensor

from targets import Binary, Discrete, Ordinal, Target


class Table(Target):
    """U by table on a small space, with modes whose responsibilities fall off with the squared distance."""

    def __init__(self, space: Discrete, log_prob: Tensor, modes: Tensor, width: float = 1.0) -> None:
        super().__init__()
        self.space = space
        self.width = width
        self.register_buffer("table", log_prob)
        self.register_buffer("modes", modes)

    def log_prob(self, theta: Tensor) -> Tensor:
        return self.table[self.space.index(theta)]

    def probabilities(self) -> Tensor:
        return self.table.double().softmax(0)

    def responsibilities(self, theta: Tensor) -> Tensor:
        squares = (theta.unsqueeze(-2) - self.modes).square().sum(-1)
        return (-squares / (2 * self.width**2)).softmax(-1)


class Bare(Target):
    """A uniform density on {0, 1}^d that offers neither probabilities nor modes."""

    def __init__(self, d: int = 3) -> None:
        super().__init__()
        self.space = Binary(d)
        self.register_buffer("zero", torch.zeros((), dtype=torch.float64))

    def log_prob(self, theta: Tensor) -> Tensor:
        return theta.sum(-1) * self.zero


class Unlisted(Target):
    """A `Table` that hides its probabilities, as a large target with known modes does."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self.space = table.space
        self.shown = table
        self.modes = table.modes

    def log_prob(self, theta: Tensor) -> Tensor:
        return self.shown.log_prob(theta)

    def responsibilities(self, theta: Tensor) -> Tensor:
        return self.shown.responsibilities(theta)


def corners(levels: int = 5, width: float = 1.0, dtype: torch.dtype = torch.float64) -> Table:
    """A rugged table on an ordinal square with one mode in each corner."""
    space = Ordinal(2, levels)
    generator = torch.Generator().manual_seed(7)
    log_prob = torch.randn(space.size, generator=generator, dtype=torch.float64)
    last = float(levels - 1)
    modes = torch.tensor([[0.0, 0.0], [0.0, last], [last, 0.0], [last, last]], dtype=dtype)
    return Table(space, log_prob.to(dtype), modes, width)
