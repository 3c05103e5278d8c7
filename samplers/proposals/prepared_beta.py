"""The inverse temperature that a proposal was prepared for, and no other."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from targets.versions import changes


class PreparedBeta:
    """Refuses inverse temperatures other than `values`; only on the CPU are they compared.

    On a device that would wait for it in every step; there only their number is. A tensor that was found to
    be right is known again as long as it is the same one, unchanged; none is where changes are not counted,
    as in inference mode.

    Args:
        values: ``()`` or ``(R,)``.
    """

    def __init__(self, values: Tensor) -> None:
        self.values = values.flatten()
        self._known: tuple[Tensor, int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_known": None}

    def to(self, like: Tensor) -> PreparedBeta:
        """A copy with the dtype and device of `like`."""
        return PreparedBeta(self.values.to(like))

    def check(self, given: Tensor | float) -> None:
        """Raises ValueError for other inverse temperatures than those prepared for."""
        beta = torch.as_tensor(given)
        count = changes(beta)
        if self._known is not None and self._known[0] is beta and self._known[1] == count:
            return
        same = beta.numel() in (1, len(self.values))
        if same and beta.device.type == "cpu":
            same = bool((beta.flatten() == self.values).all())
        if not same:
            raise ValueError(
                "beta must be the inverse temperature that the kernel was prepared for, another was given"
            )
        if count is not None:
            self._known = beta, count
