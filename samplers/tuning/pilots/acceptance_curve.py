"""Where the acceptance that a pilot finds falls through the wanted one."""

from __future__ import annotations

import torch
from torch import Tensor


def first_crossing(step_sizes: Tensor, acceptance: Tensor, wanted: float) -> Tensor:
    """Where `acceptance` ``(candidates, *rungs)`` first falls through `wanted`, log-linear between.

    Where it never does, the last step size; where it starts below, the first. Shape ``(*rungs)``, float64.

    Args:
        step_sizes: rising, ``(candidates,)`` or ``(candidates, *rungs)``.
    """
    trailing = (1,) * (acceptance.dim() - step_sizes.dim())
    logs = step_sizes.double().log().reshape(*step_sizes.shape, *trailing).expand(acceptance.shape)
    below = acceptance < wanted
    first = torch.where(below.any(0), below.to(torch.int64).argmax(0), len(logs) - 1).unsqueeze(0)
    previous = (first - 1).clamp(min=0)
    high, low = acceptance.double().gather(0, previous), acceptance.double().gather(0, first)
    share = ((high - wanted) / (high - low).clamp(min=1e-12)).clamp(0.0, 1.0)
    share = torch.where(below.any(0), share, torch.ones_like(share))
    before, after = logs.gather(0, previous), logs.gather(0, first)
    return (before + share * (after - before)).exp().squeeze(0)
