"""Optional capability of a target: its states predict the outcomes of rows of a table."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor

from targets.distinct_rows import DistinctRows


@runtime_checkable
class Predictive(Protocol):
    """A target whose states are models that predict an outcome from 0 to 1, with rows to evaluate them on."""

    def rows(self, part: str) -> DistinctRows:
        """The rows of ``train``, ``validation`` or ``test``."""
        ...

    def logits(self, theta: Tensor, part: str) -> Tensor:
        """Predicted log odds of each state for the distinct rows of a part, ``(*batch, rows)``."""
        ...
