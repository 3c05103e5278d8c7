"""Runs of one place and one seed that measured different values, though no setting tells them apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runner.report.runs.experiment_run import Run


def disagreements(runs: Iterable[Run]) -> list[str]:
    """One sentence for each place and seed with several values of a metric; a table shows the first.

    Such are runs of two versions, or of data files that differ. Runs that measured other metrics agree.
    """
    places: dict[tuple[str, str, int], list[Run]] = {}
    for run in runs:
        places.setdefault((run.row, run.column, run.seed), []).append(run)
    return [
        f"Row '{row}', column '{column}', seed {seed}: the runs {', '.join(run.run_id for run in found)} "
        f"have different values of {', '.join(metrics)}; the first is shown."
        for (row, column, seed), found in places.items()
        if (metrics := _disputed(found))
    ]


def _disputed(runs: Sequence[Run]) -> list[str]:
    """The metrics of which `runs` have several values."""
    values: dict[str, set[float]] = {}
    for run in runs:
        for metric in (run.summary or {"metrics": ()})["metrics"]:
            if (value := run.value(metric)) is not None:
                values.setdefault(metric, set()).add(value)
    return [metric for metric, found in values.items() if len(found) > 1]
