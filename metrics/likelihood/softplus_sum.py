"""Sums of softplus as logarithms of products: the log density of a layer of units that is summed out."""

from __future__ import annotations

from torch import Tensor

from targets.sum_log import LOG2_E, sum_log


def softplus_sum(logits: Tensor, scale: float = 1.0) -> Tensor:
    """sum_j log(1 + exp(scale * logits_j)) over the last axis, in float64 whatever the dtype of `logits`.

    softplus(z) = max(z, 0) + log(1 + exp(-|z|)); the logarithms are taken of products of several factors
    (`targets.sum_log`), which is exact to about 1e-15 per unit and faster than one logarithm per unit.

    Args:
        logits: of any size and sign, ``(*batch, units)``.
        scale: not negative, such as an inverse temperature.

    Returns:
        ``(*batch)``.
    """
    wide = logits.double()
    logs = sum_log(wide.abs().mul_(-scale * LOG2_E).exp2_().add_(1.0))
    return logs + scale * wide.clamp_min(0.0).sum(-1)
