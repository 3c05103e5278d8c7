"""EDULA with Gibbs-like updates (EDLP, appendix B)."""

from __future__ import annotations

from torch import Tensor

from samplers.entropic.edmala_glu import EDMALAGLU


class EDULAGLU(EDMALAGLU):
    """EDMALA-GLU that takes every move; not exact, biased by the step size of theta alone.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: EDLP, appendix B.

    Args:
        step_size, eta: as those of `EDMALAGLU`.
    """

    exact = False

    def __init__(self, step_size: float | Tensor, eta: float = 2.0) -> None:
        super().__init__(step_size, eta, adjusted=False)
