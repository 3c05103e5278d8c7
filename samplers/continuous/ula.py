"""ULA: the unadjusted Langevin algorithm on the reals (Roberts and Tweedie 1996)."""

from __future__ import annotations

from torch import Tensor

from samplers.continuous.mala import MALA


class ULA(MALA):
    """MALA that takes every proposal; not exact, biased by its step size.

    On N(mu, s^2) at inverse temperature beta, with a = beta h / s^2, its stationary distribution is normal
    with mean mu and variance (s^2 / beta) / (1 - a / 2); for a >= 2 there is none, and the chains diverge.

    Spaces: real.
    Cost: one gradient.
    Source: Roberts and Tweedie (1996).

    Args:
        step_size: as that of `MALA`.
    """

    exact = False

    def __init__(self, step_size: float | Tensor) -> None:
        super().__init__(step_size, adjusted=False)
