"""EDULA: the entropic discrete unadjusted Langevin algorithm (EDLP, Algorithm 1 without the last step)."""

from __future__ import annotations

from torch import Tensor

from samplers.entropic.edmala import EDMALA


class EDULA(EDMALA):
    """EDMALA that takes every move; not exact, biased by both step sizes.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: EDLP, Algorithm 1.

    Args:
        step_size, eta, auxiliary_step_size: as those of `EDMALA`; alpha_a must be below 4 eta, from where on
            theta_a diverges.
    """

    exact = False

    def __init__(
        self, step_size: float | Tensor, eta: float = 2.0, auxiliary_step_size: float = 0.01
    ) -> None:
        super().__init__(step_size, eta, auxiliary_step_size, adjusted=False)
