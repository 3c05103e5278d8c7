"""The history of a training: a bounded number of records of means over iterations."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


class TrainingHistory:
    """At most `points` records, evenly spaced over `iterations`, the last at the end.

    A record holds ``iteration``, ``evaluations`` and ``seconds`` so far, and ``values``: means over the
    iterations since the last record of the values given to `add`, and the values given to `record`. Where
    there is a ladder it holds ``rungs``, too: the means by rung, cold first, of iterations with the present
    number of rungs; not in the first record after a checkpoint of a version that kept no such means.

    Args:
        iterations: of the whole training.
        points: maximum number of records.
        device: of the values that are added.
    """

    def __init__(self, iterations: int, points: int, device: torch.device) -> None:
        points = min(points, iterations)
        self.due = {iterations * place // points for place in range(1, points + 1)}
        self.records: list[dict[str, Any]] = []
        self._sums: dict[str, Tensor] = {}
        self._count, self._device = 0, device
        self._by_rung: dict[str, tuple[Tensor, int]] = {}
        self._without_rungs = False

    @property
    def last_iteration(self) -> int:
        """Of the last record; 0 before the first."""
        return int(self.records[-1]["iteration"]) if self.records else 0

    def add(self, values: Mapping[str, Tensor], by_rung: Mapping[str, Tensor] | None = None) -> None:
        """Adds one iteration's scalars, always with the same names, without leaving the device.

        Args:
            by_rung: values of each rung, or of each pair of neighbours.
        """
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + value.double()
        self._count += 1
        for name, each in (by_rung or {}).items():
            last = self._by_rung.get(name)
            if last is None or last[0].shape != each.shape:  # a pilot found a ladder of another length
                last = torch.zeros_like(each, dtype=torch.float64), 0
            self._by_rung[name] = last[0] + each, last[1] + 1

    def record(self, iteration: int, evaluations: int, seconds: float, also: Mapping[str, float]) -> None:
        """Appends a record of the means since the last record and of the current values `also`."""
        values = {name: float(total) / self._count for name, total in self._sums.items()}
        record = {"iteration": iteration, "evaluations": evaluations, "seconds": seconds}
        by_rung = {} if self._without_rungs else self._by_rung
        rungs = {name: (total / count).tolist() for name, (total, count) in by_rung.items()}
        self.records.append({**record, "values": {**values, **also}, **({"rungs": rungs} if rungs else {})})
        self._sums, self._count, self._by_rung, self._without_rungs = {}, 0, {}, False

    def state_dict(self) -> dict[str, Any]:
        """A copy of the records and of the current sums."""
        return {
            "records": copy.deepcopy(self.records),
            "sums": {name: total.clone() for name, total in self._sums.items()},
            "count": self._count,
            "rungs": {name: (total.clone(), count) for name, (total, count) in self._by_rung.items()},
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Continues with `saved`."""
        self.records = copy.deepcopy(saved["records"])
        self._sums = {name: total.to(self._device, copy=True) for name, total in saved["sums"].items()}
        self._count = int(saved["count"])
        self._by_rung = {
            name: (total.to(self._device, copy=True), int(count))
            for name, (total, count) in saved.get("rungs", {}).items()
        }
        self._without_rungs = "rungs" not in saved and self._count > 0
