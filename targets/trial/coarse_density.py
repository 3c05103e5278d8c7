"""Log densities so large that their precision is lost."""

from __future__ import annotations

import torch
from torch import Tensor

COARSE = 0.25
"""In nats: where neighbouring numbers are farther apart, rounding changes acceptances by a tenth and more."""


def coarse_density(log_prob: Tensor) -> str:
    """A sentence where the largest finite |U| is too large for its dtype, else nothing; waits for the device.

    A constant in U does not change the distribution, but the differences that a move is accepted by are
    rounded to multiples of the spacing of numbers as large as U.
    """
    size = float(torch.where(log_prob.isfinite(), log_prob, 0.0).abs().max())
    spacing = torch.finfo(log_prob.dtype).eps * size
    if spacing <= COARSE:
        return ""
    name = str(log_prob.dtype).removeprefix("torch.")
    advice = "" if log_prob.dtype == torch.float64 else "use float64, or "
    return (
        f"its log density is of size {size:.1e}, where {name} tells values only {spacing:.1g} nats apart, so "
        f"that rounding decides on moves; {advice}leave out its constant part"
    )
