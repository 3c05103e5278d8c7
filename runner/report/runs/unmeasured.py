"""Metrics that a table asks for and none of its runs has, such as a misspelt one: their cells stay empty."""

from __future__ import annotations

from collections.abc import Iterator, Set

from runner.execution.errors import listed, nearest
from runner.report.runs.experiment_run import Run
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape


def unmeasured(experiment: str, shape: TableShape, results: Results) -> list[str]:
    """One sentence for each metric that no run has, with its place; none until all runs are done."""
    if results.done < results.expected:
        return []
    known = sorted({name for run in results.runs for name in (run.summary or {"metrics": ()})["metrics"]})
    return [
        f"Experiment {experiment}: {place} is '{metric}', which no run has measured"
        f"{nearest(metric, known) or '.'} They have: {listed(known)}."
        for place, metric in _asked(shape, results.rows)
        if not any(_has(run, metric) for run in results.runs)
    ]


def _asked(shape: TableShape, rows: Set[str]) -> Iterator[tuple[str, str]]:
    """The metrics of the table, and those whose mean a panel draws as its floor, with their places.

    A metric of rows that are not among `rows` is not asked for.
    """
    for number, metric in enumerate(shape.metrics):
        if not metric.rows or not rows.isdisjoint(metric.rows):
            yield f"table.metrics[{number}].metric", metric.metric
    for number, figure in enumerate(shape.figures):
        for place, panel in enumerate(figure.panels):
            if panel.floor is not None:
                yield f"table.figures[{number}].panels[{place}].floor", panel.floor


def _has(run: Run, metric: str) -> bool:
    """Whether a run measured `metric`, has it in closed form, or has no finite value of it."""
    found = (run.value(metric), run.expectation(metric))
    return any(value is not None for value in found) or run.is_without(metric)
