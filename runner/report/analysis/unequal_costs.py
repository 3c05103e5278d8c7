"""A sentence on rows that are compared although their chains evaluated the target unequally often."""

from __future__ import annotations

from runner.report.figure_shape import Role
from runner.report.runs.stored_results import Results
from runner.report.table_shape import Direction, TableShape

CLOSE = 0.95
"""Least ratio of two numbers of evaluations that count as equal: steps are whole numbers."""

MOST_ROWS, MOST_SENTENCES = 8, 3
"""Rows that are named, and columns with numbers of their own: a table of any runs may have hundreds."""


def unequal_costs(shape: TableShape, results: Results) -> list[str]:
    """How many evaluations the rows of each column took, where these differ; equal columns share it."""
    if all(metric.direction is Direction.none for metric in shape.metrics):
        return []
    columns = [column.label for column in shape.columns if column.table]
    said: dict[str, list[str]] = {}
    for column in columns:
        if sentence := _sentence(shape, results, column):
            said.setdefault(sentence, []).append(column)
    found = list(said.items())
    sentences = [
        text if own == columns else f"{'; '.join(own)}: {text}" for text, own in found[:MOST_SENTENCES]
    ]
    if rest := [column for _, own in found[MOST_SENTENCES:] for column in own]:
        sentences.append(f"Nor are the rows compared at equal evaluations in {len(rest)} more columns.")
    return sentences


def _sentence(shape: TableShape, results: Results, column: str) -> str:
    """What stands below a table for `column`; nothing where its rows took as many evaluations."""
    costs = {
        row.row: cost
        for row in shape.rows
        if row.role is Role.sampler and (cost := results.evaluations(row.row, column)) is not None
    }
    if not costs or min(costs.values()) >= CLOSE * max(costs.values()):
        return ""
    configs = {id(run.config): run.config for row in costs for run in results.at(row, column)}
    steps = {str((config.get("task") or {}).get("steps")) for config in configs.values()}
    at = "at equal steps" if len(steps) == 1 else "as they ran"
    return (
        f"The rows are compared {at}, not at equal evaluations of the target: a chain took {_named(costs)}."
    )


def _named(costs: dict[str, float]) -> str:
    """``4,000 (gibbs) and 2,000 (dmala; gwg)``; of many rows those with the most and the fewest."""
    rows: dict[str, list[str]] = {}
    for row, cost in sorted(costs.items(), key=lambda each: -each[1]):
        rows.setdefault(f"{cost:,.0f}", []).append(row)
    if len(costs) > MOST_ROWS:
        (most, first), *_, (fewest, last) = rows.items()
        return f"from {fewest} ({last[0]}) to {most} ({first[0]})"
    parts = [f"{number} ({'; '.join(own)})" for number, own in rows.items()]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
