"""DULA: the discrete unadjusted Langevin algorithm (Zhang, Liu and Liu 2022)."""

from __future__ import annotations

from torch import Tensor

from samplers.discrete.dmala import DMALA


class DULA(DMALA):
    """DMALA that takes every proposal; not exact, biased by its step size.

    PT-DLP v2, Eqs. 2-4 without Eq. 6. Its stationary distribution is known in closed form only for
    log-quadratic targets; for others enumerate it with `metrics.enumeration.transition_matrix`.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: Zhang, Liu and Liu (2022); PT-DLP v2, Eqs. 2-4.

    Args:
        step_size, balancing, norm: as those of `DMALA`.
    """

    exact = False

    def __init__(self, step_size: float | Tensor, balancing: float = 0.5, norm: float = 2.0) -> None:
        super().__init__(step_size, balancing, norm, adjusted=False)
