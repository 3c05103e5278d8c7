"""Sentences that compare two rows by a paired t-test over seeds, whatever its result."""

from __future__ import annotations

from metrics.inference.few_seeds import (
    ALPHA,
    POWER,
    agreeing_p_value,
    contradicted,
    detectable_difference,
    holm,
    interval,
)
from runner.report.numerals import numeral, significant
from runner.report.runs.stored_results import Results
from runner.report.table_shape import ColumnShape, ComparisonShape, Direction, MetricShape, TableShape

BETTER = {Direction.min: "lower", Direction.max: "higher"}


def compared(shape: TableShape, results: Results) -> list[str]:
    """One sentence for each of the table's comparisons in each of its columns.

    The p-values are Holm-adjusted over all of them that have a test. A row some of whose runs have no finite
    value is compared with nothing, as in the table: the others are not a fair choice of its runs. Nor are two
    rows called different whose means over all their seeds, which the table shows, are in the other order.
    """
    pairs = [
        (comparison, column) for comparison in shape.comparisons for column in shape.columns if column.table
    ]
    values = [
        [results.shown(row, column.label, comparison.metric) for row in comparison.rows]
        for comparison, column in pairs
    ]
    without = [_without(results, comparison, column) for comparison, column in pairs]
    tested = [None if lost else agreeing_p_value(*both) for lost, both in zip(without, values, strict=True)]
    p_values, tests = holm(tested), sum(p_value is not None for p_value in tested)
    sentences = []
    for (comparison, column), lost, (first, second), p_value in zip(
        pairs, without, values, p_values, strict=True
    ):
        metric = shape.metric(comparison.metric)
        if lost:
            about = f"{metric.name}, {column.label}: {' against '.join(comparison.rows)}"
            sentences.append(f"{about}: not compared, as {lost}.")
        else:
            sentences.append(_sentence(metric, comparison, column, first, second, p_value, tests))
    return sentences


def _without(results: Results, comparison: ComparisonShape, column: ColumnShape) -> str:
    """Which runs have no finite value: ``2 of 5 runs of ACS have no finite value``; nothing if all have."""
    said = []
    for row in comparison.rows:
        if lost := results.without_value(row, column.label, comparison.metric):
            done = lost + len(results.values(row, column.label, comparison.metric))
            said.append(f"{lost} of {done} runs of {row}")
    return f"{' and '.join(said)} have no finite value" if said else ""


def _sentence(
    metric: MetricShape,
    comparison: ComparisonShape,
    column: ColumnShape,
    first: dict[int, float],
    second: dict[int, float],
    p_value: float | None,
    tests: int,
) -> str:
    one, other = comparison.rows
    seeds = sorted(first.keys() & second.keys())
    n = len(seeds)
    about = f"{metric.name}, {column.label}: {one} against {other}"
    if not seeds:
        return f"{about}: no seed with a value of both."
    means = [sum(values[seed] for seed in seeds) / n / metric.scale for values in (first, second)]
    difference = interval([(first[seed] - second[seed]) / metric.scale for seed in seeds])
    detectable = detectable_difference(first, second, tests=tests)
    assert difference is not None
    about += f", {' against '.join(significant(mean, 3, difference.margin) for mean in means)}"
    if p_value is None or difference.margin is None or detectable is None:
        return f"{about} ({n} shared seed{'s' * (n > 1)}, too few or too much alike for a test)."
    written = numeral(difference.mean, difference.margin)
    about += f", difference {written.mean} ± {written.margin} (95 % interval; paired t-test over seeds)"
    if contradicted(first, second):
        all_seeds = [sum(values.values()) / len(values) / metric.scale for values in (first, second)]
        shown = " against ".join(
            f"{significant(mean, 3, difference.margin)} (n = {len(values)})"
            for mean, values in zip(all_seeds, (first, second), strict=True)
        )
        return (
            f"{about}: not called different, as these are the means over the {n} shared seeds, and those "
            f"over all seeds are in the other order, {shown}."
        )
    tested = f"{'Holm-adjusted p' if tests > 1 else 'p'} = {p_value:.2g}, n = {n}"
    if p_value >= ALPHA:
        level = f", level {ALPHA:g} / {tests}" if tests > 1 else ""
        smallest = f"smallest difference detectable at {100 * POWER:g} % power{level}"
        size = significant(detectable / metric.scale, 2, detectable / metric.scale)
        return f"{about}: no significant difference ({tested}, {smallest}: {size})."
    found = "lower" if difference.mean < 0 else "higher"
    wanted = BETTER.get(metric.direction)
    verdict = "" if wanted is None else ", which is better" if found == wanted else ", which is worse"
    return f"{about}: significantly different ({tested}); {one} is {found}{verdict}."
