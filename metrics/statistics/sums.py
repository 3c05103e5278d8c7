"""Sums over steps: statistics that merge by addition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from metrics.metric import Context, Statistic


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
        return {"steps": self.steps, "sums": {name: total.clone() for name, total in self.sums.items()}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`.

        Raises:
            ValueError: if a saved sum has a different shape.
        """
        for name, total in self.sums.items():
            restore(name, total, state["sums"][name])
        self.steps = int(state["steps"])


def restore(name: str, into: Tensor, saved: Tensor) -> None:
    """Copies `saved` into the tensor `into`, without broadcasting.

    Raises:
        ValueError: if the shapes differ; the message calls the tensor `name`.
    """
    if saved.shape != into.shape:
        raise ValueError(f"{name} must have the shape {tuple(into.shape)}, {tuple(saved.shape)} was saved")
    into.copy_(saved)
