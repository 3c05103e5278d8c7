"""The baseline of the bench on an RBM: DMALA as a script would write it.

Autograd for every gradient, at the state and at the proposal, energies anew for the acceptance, nothing kept
from step to step. It is a correct sampler for as long as no flip's probability rounds to 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import softplus

from runner.bench.plain_loop import gradient


def energy(weight: Tensor, hidden_bias: Tensor, visible_bias: Tensor) -> Callable[[Tensor], Tensor]:
    """U of an RBM by its formula: ``(chains, n_visible)`` to ``(chains,)``."""

    def log_prob(theta: Tensor) -> Tensor:
        return softplus(theta @ weight.T + hidden_bias).sum(-1) + theta @ visible_bias

    return log_prob


def plain_step(log_prob: Callable[[Tensor], Tensor], theta: Tensor, step_size: float) -> Tensor:
    """One step of every chain."""
    flip_probability = torch.sigmoid(0.5 * gradient(log_prob, theta) * (1 - 2 * theta) - 1 / (2 * step_size))
    flip = (torch.rand_like(theta) < flip_probability).float()
    proposed = theta * (1 - flip) + (1 - theta) * flip
    forward = (flip_probability * flip + (1 - flip_probability) * (1 - flip)).log().sum(-1)
    flip_back = torch.sigmoid(0.5 * gradient(log_prob, proposed) * (1 - 2 * proposed) - 1 / (2 * step_size))
    reverse = (flip_back * flip + (1 - flip_back) * (1 - flip)).log().sum(-1)
    with torch.no_grad():
        ratio = log_prob(proposed) - log_prob(theta) + reverse - forward
        accept = (torch.rand_like(ratio).log() < ratio).float().unsqueeze(-1)
    return proposed * accept + theta * (1 - accept)
