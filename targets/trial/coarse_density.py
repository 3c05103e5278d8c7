"""Log densities so large that their precision is lost."""

from __future__ import annotations

import torch
from torch import Tensor

COARSE = 0.25
"""In nats: where neighbouring numbers are farther apart, rounding begins to show.

MALA on two normal coordinates accepts 0.94 of its moves; 0.93 at 0.3 nats apart, 0.83 at 1.2, 0.74 at 2.4.
"""


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
        f"that rounding shows in which moves are accepted; {advice}leave out its constant part"
    )
