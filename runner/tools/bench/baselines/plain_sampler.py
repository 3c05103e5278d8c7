"""DMALA and PT-DMALA as a script would write them, the baselines of the bench.

A loop over replicas, autograd for every gradient, gradients and energies computed anew wherever they are
needed (two gradients and two energies a move, and the energies once more for the swaps), states drawn by
`torch.distributions`. Chains are batched, as they are in published code. They are correct samplers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Distribution
from torch.nn.functional import softplus

LogProb = Callable[[Tensor], Tensor]
"""U of the states of all chains, ``(chains, d)`` to ``(chains,)``."""

Propose = Callable[[Tensor, Tensor, float], Distribution]
"""The discrete Langevin proposal from gradient, states and step size: that of every coordinate."""

LEVELS = torch.arange(101.0)


def ring_of_gaussians(modes: int = 8, deviation: float = 0.1) -> LogProb:
    """U of the project's `mog` on a ring, by its formula, on its grid of 101 x 101 points."""
    angle = 2 * torch.pi * torch.arange(modes) / modes
    centres = torch.stack([angle.cos(), angle.sin()], -1)

    def log_prob(theta: Tensor) -> Tensor:
        point = 3.0 * theta / 100.0 - 1.5
        squared = (point.unsqueeze(-2) - centres).square().sum(-1)
        return torch.logsumexp(-squared / (2 * deviation**2), -1)

    return log_prob


def rbm_energy(weight: Tensor, hidden_bias: Tensor, visible_bias: Tensor) -> LogProb:
    """U of an RBM by its formula."""
    return lambda theta: softplus(theta @ weight.T + hidden_bias).sum(-1) + theta @ visible_bias


def propose_level(gradient: Tensor, theta: Tensor, step_size: float) -> Categorical:
    """The proposal on the grid, over all levels of each coordinate."""
    move = LEVELS - theta.unsqueeze(-1)
    return Categorical(logits=0.5 * gradient.unsqueeze(-1) * move - move**2 / (2 * step_size))


def propose_bit(gradient: Tensor, theta: Tensor, step_size: float) -> Bernoulli:
    """The proposal on binary states."""
    return Bernoulli(logits=0.5 * gradient - (1 - 2 * theta) / (2 * step_size))


def plain_step(log_prob: LogProb, theta: Tensor, step_size: float, propose: Propose = propose_bit) -> Tensor:
    """One step of every chain."""

    def gradient(at: Tensor) -> Tensor:
        leaf = at.clone().requires_grad_(True)
        return torch.autograd.grad(log_prob(leaf).sum(), leaf)[0]

    forward = propose(gradient(theta), theta, step_size)
    proposed = forward.sample().to(theta)
    reverse = propose(gradient(proposed), proposed, step_size)
    ratio = log_prob(proposed) - log_prob(theta)
    back, forth = reverse.log_prob(theta), forward.log_prob(proposed)
    accept = torch.rand(len(theta), device=theta.device).log() < ratio + back.sum(-1) - forth.sum(-1)
    return torch.where(accept.unsqueeze(-1), proposed, theta)


def plain_round(
    log_prob: LogProb,
    replicas: list[Tensor],
    betas: Sequence[float],
    step_sizes: Sequence[float],
    propose: Propose,
) -> None:
    """One round of PT-DMALA in place: moves of every replica, then sequential Metropolis swaps."""
    for k, (beta, step_size) in enumerate(zip(betas, step_sizes, strict=True)):

        def tempered(theta: Tensor, beta: float = beta) -> Tensor:
            return beta * log_prob(theta)

        replicas[k] = plain_step(tempered, replicas[k], step_size, propose)
    for k in range(len(betas) - 1):
        cold, hot = replicas[k], replicas[k + 1]
        ratio = (betas[k] - betas[k + 1]) * (log_prob(hot) - log_prob(cold))
        swap = (torch.rand(len(cold), device=cold.device).log() < ratio).unsqueeze(-1)
        replicas[k], replicas[k + 1] = torch.where(swap, hot, cold), torch.where(swap, cold, hot)
