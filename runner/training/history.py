"""What is noted while a model learns: a bounded number of records, means over the iterations between."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


class History:
    """At most `points` records, evenly spaced over `iterations`, the last at the end.

    A record holds ``iteration``, ``evaluations`` and ``seconds`` so far, and ``values``: ``loss`` and
    ``acceptance``, means over the iterations since the last record, and ``free_energy_gap`` where there
    are held-out images to measure it on.

    Args:
        iterations: of the whole training.
        points: how many records there are at most.
        device: of the losses.
    """

    def __init__(self, iterations: int, points: int, device: torch.device) -> None:
        points = min(points, iterations)
        self.due = {iterations * place // points for place in range(1, points + 1)}
        self.records: list[dict[str, Any]] = []
        self._sums = torch.zeros(2, dtype=torch.float64, device=device)
        self._count = 0

    def add(self, loss: Tensor, acceptance: Tensor) -> None:
        """Takes in one iteration, without leaving the device."""
        self._sums += torch.stack([loss.double(), acceptance.double()])
        self._count += 1

    def record(self, iteration: int, evaluations: int, seconds: float, gap: float | None) -> None:
        """Notes what was gathered since the last record."""
        loss, acceptance = (self._sums / self._count).tolist()
        values = {"loss": loss, "acceptance": acceptance}
        if gap is not None:
            values["free_energy_gap"] = gap
        self.records.append(
            {"iteration": iteration, "evaluations": evaluations, "seconds": seconds, "values": values}
        )
        self._sums.zero_()
        self._count = 0

    def state_dict(self) -> dict[str, Any]:
        return {
            "records": copy.deepcopy(self.records),
            "sums": self._sums.clone(),
            "count": self._count,
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        self.records = copy.deepcopy(saved["records"])
        self._sums.copy_(saved["sums"])
        self._count = int(saved["count"])
