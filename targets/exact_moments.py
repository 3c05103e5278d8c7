"""Exact mean and variance of U, where log Z is known at every inverse temperature."""

from __future__ import annotations

import torch

from targets.target import HasLogPartition


def energy_moments(target: HasLogPartition) -> tuple[float, float]:
    """Mean and variance of U: the first two derivatives of log sum exp(beta U) at beta = 1.

    Raises:
        ValueError: if log Z is not known for this instance.
    """
    with torch.enable_grad():
        beta = torch.ones((), dtype=torch.float64, requires_grad=True)
        (mean,) = torch.autograd.grad(target.log_partition(beta), beta, create_graph=True)
        (variance,) = torch.autograd.grad(mean, beta)
    return float(mean.detach()), float(variance)
