"""Penalties on the slope and the size of energies, which may be added to the contrastive loss."""

from __future__ import annotations

import torch
from torch import Tensor


def gradient_penalty(log_prob: Tensor, states: Tensor) -> Tensor:
    """Mean of |grad_x U(x)|^2 over the states; its own gradient costs a second backward pass.

    The released code (`pcd_ebm_ema.py`, `p_control`) has half of it.

    Args:
        log_prob: U of the states, ``(n)``, with the graph that leads back to them.
        states: ``(n, *event_shape)``, or more rows, of which the last n count.
    """
    (slope,) = torch.autograd.grad(log_prob.sum(), states, create_graph=True)
    return slope[-len(log_prob) :].square().flatten(1).sum(-1).mean()


def energy_penalty(samples: Tensor, data: Tensor) -> Tensor:
    """mean U(data)^2 + mean U(samples)^2 (`pcd_ebm_ema.py`, `l2`).

    Args:
        samples, data: U of each, ``(n)`` and ``(m)``.
    """
    return data.square().mean() + samples.square().mean()
