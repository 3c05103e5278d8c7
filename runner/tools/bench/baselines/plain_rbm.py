"""The baseline of the bench on an RBM: DMALA as a script would write it.

Autograd for every gradient, at the state and at the proposal, energies anew for the acceptance, nothing kept
from step to step, flips by `torch.distributions`. It is a correct sampler.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.distributions import Bernoulli
from torch.nn.functional import softplus

from runner.tools.bench.baselines.plain_loop import gradient


def energy(weight: Tensor, hidden_bias: Tensor, visible_bias: Tensor) -> Callable[[Tensor], Tensor]:
    """U of an RBM by its formula: ``(chains, n_visible)`` to ``(chains,)``."""

    def log_prob(theta: Tensor) -> Tensor:
        return softplus(theta @ weight.T + hidden_bias).sum(-1) + theta @ visible_bias

    return log_prob


def flips(log_prob: Callable[[Tensor], Tensor], theta: Tensor, step_size: float) -> Bernoulli:
    """The discrete Langevin proposal: which bits flip."""
    return Bernoulli(logits=0.5 * gradient(log_prob, theta) * (1 - 2 * theta) - 1 / (2 * step_size))


def plain_step(log_prob: Callable[[Tensor], Tensor], theta: Tensor, step_size: float) -> Tensor:
    """One step of every chain."""
    forward = flips(log_prob, theta, step_size)
    flipped = forward.sample()  # type: ignore[no-untyped-call]
    proposed = (theta - flipped).abs()
    reverse = flips(log_prob, proposed, step_size)
    ratio = log_prob(proposed) - log_prob(theta)
    back, forth = reverse.log_prob(flipped), forward.log_prob(flipped)  # type: ignore[no-untyped-call]
    ratio = ratio + back.sum(-1) - forth.sum(-1)
    accept = torch.rand(len(theta)).log() < ratio
    return torch.where(accept.unsqueeze(-1), proposed, theta)
