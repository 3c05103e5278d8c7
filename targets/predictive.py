"""What a target can do whose states predict the outcomes of rows."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor

from targets.distinct_rows import DistinctRows


@runtime_checkable
class Predictive(Protocol):
    """A target whose every state is a model of an outcome from 0 to 1, with rows to try it on."""

    def rows(self, part: str) -> DistinctRows:
        """The rows of ``train``, ``validation`` or ``test``."""
        ...

    def logits(self, theta: Tensor, part: str) -> Tensor:
        """Log odds that each state predicts for the distinct rows of a part, ``(*batch, rows)``."""
        ...
