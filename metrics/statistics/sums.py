"""Sums over steps: statistics that merge by addition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from metrics.metric import Context, Statistic, restore


class Sums(Statistic):
    """Named sums over the steps of a run.

    Attributes:
        steps: number of steps summed.
        sums: the sums by name, zero at first; a subclass makes them with `zeros`.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.steps = 0
        self.sums: dict[str, Tensor] = {}

    def zeros(self, name: str, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """A new sum of the given shape."""
        self.sums[name] = torch.zeros(shape, dtype=dtype, device=self.context.device)
        return self.sums[name]

    def merge(self, other: Self) -> None:
        self.steps += other.steps
        for name, total in self.sums.items():
            total.add_(other.sums[name].to(total.device))

    def state_dict(self) -> dict[str, Any]:
        sums = {name: total.clone() for name, total in self.sums.items()}
        return {"steps": self.steps, "sums": sums, **super().state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        for name, total in self.sums.items():
            restore(name, total, state["sums"][name])
        self.steps = int(state["steps"])
