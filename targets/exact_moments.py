"""Exact mean and variance of U, where log Z is known at every inverse temperature."""

from __future__ import annotations

import warnings

import torch

from targets.target import HasLogPartition


def energy_moments(target: HasLogPartition) -> tuple[float, float]:
    """Mean and variance of U: the first two derivatives of log sum exp(beta U) at beta = 1.

    Raises:
        ValueError: if log Z is not known for this instance, or autograd cannot differentiate it by beta.
    """
    with torch.inference_mode(mode=False), torch.enable_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a beta that becomes a Python number
        beta = torch.ones((), dtype=torch.float64, requires_grad=True)
        try:
            (mean,) = torch.autograd.grad(target.log_partition(beta), beta, create_graph=True)
            (variance,) = torch.autograd.grad(mean, beta)
        except (RuntimeError, TypeError) as error:
            raise ValueError(
                f"autograd cannot differentiate the log_partition of {type(target).__name__} by beta"
            ) from error
    return float(mean.detach()), float(variance)
