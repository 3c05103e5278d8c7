"""A class of models as a user has it: outside the packages of the project, known by its import path."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from targets import Binary, Target


class Couplings(Target):
    """U = x'Wx + b'x on bits, which is no RBM."""

    space: Binary

    def __init__(self, n_visible: int, scale: float = 0.0, mean: Tensor | None = None, seed: int = 0) -> None:
        super().__init__()
        self.space = Binary(n_visible)
        generator = torch.Generator().manual_seed(seed)
        size = (n_visible, n_visible)
        self.weight = nn.Parameter(scale * torch.randn(size, generator=generator, dtype=torch.float64))
        start = (
            torch.zeros(n_visible, dtype=torch.float64) if mean is None else mean.clamp(0.01, 0.99).logit()
        )
        self.bias = nn.Parameter(start.clone())

    def log_prob(self, theta: Tensor) -> Tensor:
        return ((theta @ self.weight) * theta).sum(-1) + theta @ self.bias
