"""What was measured along a run, in the form that charts need."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

Value = float | None


@dataclass(frozen=True)
class Curve:
    """One metric along one run, at the points where it was recorded.

    Attributes:
        step, evaluations, seconds: up to each point.
        value: the metric there; None where it is not finite.
    """

    step: list[int]
    evaluations: list[float]
    seconds: list[float]
    value: list[Value]


def curves_of(path: Path) -> dict[str, Curve]:
    """Every metric in the file ``metrics.csv`` of a run; empty where it cannot be read."""
    found: dict[str, Curve] = {}
    try:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                curve = found.setdefault(row["metric"], Curve([], [], [], []))
                value = float(row["value"])
                curve.step.append(int(row["step"]))
                curve.evaluations.append(float(row["evaluations"]))
                curve.seconds.append(float(row["seconds"]))
                curve.value.append(value if math.isfinite(value) else None)
    except (OSError, ValueError, KeyError):
        return {}
    return found
