"""Sums of softplus as the log of a product: the log density of a layer that is summed out."""

from __future__ import annotations

import torch
from torch import Tensor

FACTORS = 1000
"""Factors that are multiplied before a logarithm is taken: each is at most 2, and 2**1000 is a float64."""


def softplus_sum(logits: Tensor, scale: float = 1.0) -> Tensor:
    """sum_j log(1 + exp(scale * logits_j)) over the last axis, in float64 whatever the dtype of `logits`.

    softplus(z) = max(z, 0) + log(1 + exp(-|z|)), and the logarithms of a row become one logarithm of a
    product: right to about 1e-16 a unit, and faster than a logarithm for each unit.

    Args:
        logits: of any size and sign, ``(*batch, units)``.
        scale: not negative, such as an inverse temperature.

    Returns:
        ``(*batch)``.
    """
    wide = logits.double()
    factors = wide.abs().mul_(-scale).exp_().add_(1.0)
    logs = [part.prod(-1).log_() for part in torch.split(factors, FACTORS, -1)]
    return torch.stack(logs).sum(0) + scale * wide.clamp_min(0.0).sum(-1)
