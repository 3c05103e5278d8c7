"""Small targets for annealed importance sampling."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from targets import RBM, Binary, Discrete, Real, Target


def random_rbm(n_visible: int, n_hidden: int, scale: float = 0.5, seed: int = 1) -> RBM:
    """An RBM with normal couplings and biases and a data mean of its own."""
    generator = torch.Generator().manual_seed(seed)
    rbm = RBM(n_visible, n_hidden, mean=torch.rand(n_visible, generator=generator, dtype=torch.float64))
    with torch.no_grad():
        for parameter in rbm.parameters():
            parameter.copy_(scale * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return rbm.double().requires_grad_(False)


class BlackBox(Target):
    """An RBM that is known by its density and data mean alone; counts its evaluations."""

    batch_invariant = False

    def __init__(self, rbm: RBM) -> None:
        super().__init__()
        self.hidden = rbm
        self.space = rbm.space
        self.register_buffer("data_mean", rbm.data_mean.clone())
        self.calls = 0

    def log_prob(self, theta: Tensor) -> Tensor:
        self.calls += 1
        return self.hidden.log_prob(theta)


class Product(Target):
    """Independent bits: no matrix product, so that rounding does not depend on the batch."""

    def __init__(self, d: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.space = Binary(d)
        self.register_buffer("odds", torch.linspace(-2.0, 2.0, d, dtype=dtype))

    def log_prob(self, theta: Tensor) -> Tensor:
        return (theta * self.odds).sum(-1)


class FromMeans(Target):
    """Four bits and the mean of some data, which need not be one of four bits."""

    def __init__(self, mean: Sequence[float]) -> None:
        super().__init__()
        self.space = Binary(4)
        self.register_buffer("data_mean", torch.tensor(list(mean)))

    def log_prob(self, theta: Tensor) -> Tensor:
        return theta.sum(-1)


class Continuous(Target):
    """A density on the reals."""

    def __init__(self) -> None:
        super().__init__()
        self.space = Real(2)

    def log_prob(self, theta: Tensor) -> Tensor:
        return -theta.square().sum(-1)


def exact_draws(target: Target, number: int, seed: int) -> Tensor:
    """Exact draws ``(1, number, *event_shape)`` by enumeration."""
    assert isinstance(target.space, Discrete)
    states, generator = target.space.states(), torch.Generator().manual_seed(seed)
    pi = target.log_prob(states).softmax(-1)
    return states[torch.multinomial(pi, number, replacement=True, generator=generator)].unsqueeze(0)


def log_z(target: Target) -> float:
    """log Z by enumeration."""
    assert isinstance(target.space, Discrete)
    return float(target.log_prob(target.space.states()).logsumexp(0))
