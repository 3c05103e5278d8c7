"""Ladders of inverse temperatures: their checks, and the ladder with equal rejections between neighbours.

The sums of the rejections r_k between neighbours, from the hot end, give the communication barrier
Lambda(beta), interpolated monotonically; a ladder that cuts it into equal parts (PT-DLP v1, Eq. 7; Syed et
al. 2022) makes all rejections equal. `samplers.tuning.pilots.ladder_rounds` estimates the rejections.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from samplers.hyperparameters import AUTO, decreasing_ladder, hottest_rung
from targets.checks import whole_number
from targets.spaces import Real
from targets.target import Target

if TYPE_CHECKING:
    from scipy.interpolate import PchipInterpolator


LAST_ABOVE_ZERO = 0.01
"""The last rung but one of a geometric ladder that ends in 0."""


def check_ladder(ladder: Any, *, auto: bool = True) -> Tensor:
    """A ladder as a float64 tensor ``(K,)``; `auto` says whether the caller would have taken ``"auto"``, too.

    Raises:
        ValueError: unless it has at least two rungs and decreases strictly from 1 to at least 0.
    """
    return torch.tensor(decreasing_ladder(ladder, auto=auto), dtype=torch.float64)


def require_proper(target: Target, betas: Sequence[float] | Tensor) -> None:
    """Refuses a ladder on the reals that ends at 0, where the hot distribution is flat and so improper.

    Raises:
        ValueError: if it does.
    """
    if isinstance(target.space, Real) and betas[-1] == 0:
        given = betas.tolist() if isinstance(betas, Tensor) else list(betas)
        raise ValueError(f"ladder must end above 0 on the reals, {given!r} was given")


def geometric_ladder(replicas: int, hottest: float = 0.0) -> Tensor:
    """1, .., 0.01 in equal ratios and then 0, `replicas` rungs in all, float64 ``(replicas,)``.

    Where `hottest` is above 0 all ratios are equal, down to it.

    Raises:
        ValueError: for fewer than two replicas, or unless `hottest` is at least 0 and below 1.
    """
    whole_number("replicas", replicas, 2)
    hottest_rung(hottest, AUTO)
    if hottest > 0:
        ratios = torch.logspace(0.0, np.log10(hottest), replicas, dtype=torch.float64)
        ratios[-1] = hottest  # to the bit, which a power of 10 is not
        return ratios
    if replicas == 2:
        return torch.tensor([1.0, 0.0], dtype=torch.float64)
    ratios = torch.logspace(0.0, np.log10(LAST_ABOVE_ZERO), replicas - 1, dtype=torch.float64)
    return torch.cat([ratios, torch.zeros(1, dtype=torch.float64)])


def barrier_curve(betas: Sequence[float], rejections: Sequence[float]) -> PchipInterpolator:
    """Lambda(beta), zero at the hottest rung: SciPy's PCHIP (Fritsch and Butland 1984), monotone and cubic.

    PT-DLP names Fritsch and Carlson (1980), which differs in the slopes.

    Args:
        betas: ladder, decreasing, length K.
        rejections: mean rejection between rungs k and k + 1, length K - 1.
    """
    from scipy.interpolate import PchipInterpolator  # SciPy takes half a second, and only a pilot needs it

    # A tiny slope keeps Lambda invertible where neighbours always swap.
    steps = np.maximum(np.asarray(rejections, dtype=float), 1e-9)
    cumulative = np.concatenate([[0.0], np.cumsum(steps[::-1])])
    return PchipInterpolator(np.asarray(betas, dtype=float)[::-1], cumulative)


def equal_rejection_ladder(betas: Sequence[float], rejections: Sequence[float], replicas: int) -> list[float]:
    """The ladder of `replicas` rungs whose neighbours are all equally far apart: Lambda in equal parts."""
    from scipy.optimize import brentq

    curve = barrier_curve(betas, rejections)
    hot, cold = float(betas[-1]), float(betas[0])
    total = float(curve(cold))
    inner = [
        brentq(lambda beta, level=level: float(curve(beta)) - level, hot, cold, xtol=1e-12)
        for level in total * (1 - np.arange(1, replicas - 1) / (replicas - 1))
    ]
    return [cold, *inner, hot]


def require_replica_axis(name: str, theta: Tensor, batch: Sequence[int], replicas: int) -> None:
    """Raises ValueError unless the states `theta`, of these batch axes, have one replica for each rung first.

    Args:
        name: of the kernel, for the message.
    """
    if tuple(batch[:1]) != (replicas,):
        raise ValueError(
            f"{name} needs states with its {replicas} replicas as the first axis, ({replicas}, *batch, ...); "
            f"{tuple(theta.shape)} was given"
        )
