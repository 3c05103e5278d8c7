"""The classes of a run's images: the values that a run has of each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runner.report.runs.experiment_run import Run

OWN, REAL = "class_", "real_"
"""What the names of the share of a class begin with: in the run's images, in the real data."""


def classes(runs: Sequence[Run]) -> list[int]:
    """The classes that any of `runs` has a share of, ascending."""
    names = {name for run in runs if run.summary is not None for name in run.summary["metrics"]}
    return sorted(int(name[len(OWN) :]) for name in names if re.fullmatch(rf"{OWN}\d+", name))
