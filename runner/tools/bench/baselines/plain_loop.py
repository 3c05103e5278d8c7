"""The baseline of the bench: PT-DMALA as a script would write it.

A loop over replicas, autograd for every gradient, gradients and energies computed anew wherever they are
needed (two gradients and two energies a move, and the energies once more for the swaps), levels drawn by
`torch.distributions`. Chains are batched, as they are in published code. It is a correct sampler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.distributions import Categorical

LEVELS = torch.arange(101.0)


def ring_of_gaussians(modes: int = 8, deviation: float = 0.1) -> Callable[[Tensor], Tensor]:
    """U of the suite's `mog` on a ring, by its formula: ``(chains, 2)`` grid states to ``(chains,)``."""
    angle = 2 * torch.pi * torch.arange(modes) / modes
    centres = torch.stack([angle.cos(), angle.sin()], -1)

    def log_prob(theta: Tensor) -> Tensor:
        point = 3.0 * theta / 100.0 - 1.5
        squared = (point.unsqueeze(-2) - centres).square().sum(-1)
        return torch.logsumexp(-squared / (2 * deviation**2), -1)

    return log_prob


def gradient(log_prob: Callable[[Tensor], Tensor], theta: Tensor) -> Tensor:
    """dU by autograd."""
    leaf = theta.clone().requires_grad_(True)
    return torch.autograd.grad(log_prob(leaf).sum(), leaf)[0]


def proposal(grad: Tensor, theta: Tensor, beta: float, step_size: float) -> Categorical:
    """The discrete Langevin proposal over all levels of both coordinates."""
    move = LEVELS - theta.unsqueeze(-1)
    return Categorical(logits=0.5 * beta * grad.unsqueeze(-1) * move - move**2 / (2 * step_size))


def plain_round(
    log_prob: Callable[[Tensor], Tensor],
    replicas: list[Tensor],
    betas: Sequence[float],
    step_sizes: Sequence[float],
) -> list[Tensor]:
    """One round of PT-DMALA: local moves of every replica, then sequential Metropolis swaps."""
    for k, (beta, step_size) in enumerate(zip(betas, step_sizes, strict=True)):
        theta = replicas[k]
        forward = proposal(gradient(log_prob, theta), theta, beta, step_size)
        proposed = forward.sample()  # type: ignore[no-untyped-call]
        reverse = proposal(gradient(log_prob, proposed.float()), proposed.float(), beta, step_size)
        ratio = beta * (log_prob(proposed.float()) - log_prob(theta))
        back, forth = reverse.log_prob(theta), forward.log_prob(proposed)  # type: ignore[no-untyped-call]
        ratio = ratio + back.sum(-1) - forth.sum(-1)
        accept = torch.rand(len(theta)).log() < ratio
        replicas[k] = torch.where(accept.unsqueeze(-1), proposed.float(), theta)
    for k in range(len(betas) - 1):
        cold, hot = replicas[k], replicas[k + 1]
        swap = torch.rand(len(cold)).log() < (betas[k] - betas[k + 1]) * (log_prob(hot) - log_prob(cold))
        chosen = swap.unsqueeze(-1)
        replicas[k], replicas[k + 1] = torch.where(chosen, hot, cold), torch.where(chosen, cold, hot)
    return replicas
