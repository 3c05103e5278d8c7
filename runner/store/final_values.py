"""What a run measured, also where a value is no finite number, which JSON has no word for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from runner.store.run_folder import RunFolder


def final_values(folder: RunFolder, summary: Mapping[str, Any]) -> dict[str, float]:
    """The metrics of a run by their names; one that is null in its summary is NaN or infinite.

    Which of these it is says the last row of the metric.

    Args:
        folder: of the run, which is done.
        summary: of the run.
    """
    metrics: Mapping[str, float | None] = summary["metrics"]
    values = {name: math.nan if value is None else value for name, value in metrics.items()}
    if None in metrics.values() and (rows := folder.metrics()) is not None:
        values |= dict(zip(rows["metric"], rows["value"], strict=True))
    return {name: values[name] for name in metrics}
