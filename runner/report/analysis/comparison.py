"""Sentences that compare two rows by a paired test over seeds, whatever the answer is."""

from __future__ import annotations

from metrics.statistics.inference import ALPHA, holm, interval, paired_p_value
from runner.report.numerals import numeral
from runner.report.stored_results import Results
from runner.report.table_shape import ColumnShape, ComparisonShape, Direction, MetricShape, TableShape

BETTER = {Direction.min: "lower", Direction.max: "higher"}


def compared(shape: TableShape, results: Results) -> list[str]:
    """One sentence for each of the table's comparisons in each of its columns.

    The p-values are Holm-adjusted over all of them.
    """
    pairs = [
        (comparison, column) for comparison in shape.comparisons for column in shape.columns if column.table
    ]
    values = [
        [results.values(row, column.label, comparison.metric) for row in comparison.rows]
        for comparison, column in pairs
    ]
    adjusted = holm([paired_p_value(first, second) for first, second in values])
    return [
        _sentence(shape.metric(comparison.metric), comparison, column, first, second, p, len(pairs))
        for (comparison, column), (first, second), p in zip(pairs, values, adjusted, strict=True)
    ]


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
    about = f"{metric.name}, {column.label}: {one} against {other}"
    if not seeds:
        return f"{about}: no seed of both is in."
    means = [sum(values[seed] for seed in seeds) / len(seeds) / metric.scale for values in (first, second)]
    difference = interval([(first[seed] - second[seed]) / metric.scale for seed in seeds])
    assert difference is not None
    numbers = f"{about}, {means[0]:.3g} against {means[1]:.3g}"
    if p_value is None or difference.margin is None:
        return f"{numbers} ({len(seeds)} shared seed{'s' * (len(seeds) > 1)}); there is no test."
    test = f"paired t-test over {len(seeds)} seeds, {'Holm-adjusted ' if tests > 1 else ''}p = {p_value:.2g}"
    written = numeral(difference.mean, difference.margin)
    numbers += f", difference {written.mean} ± {written.margin} (95 % interval; {test})"
    if p_value >= ALPHA:
        return f"{numbers}: the two are not told apart."
    found = "lower" if difference.mean < 0 else "higher"
    wanted = BETTER.get(metric.direction)
    judged = "" if wanted is None else ", the better" if found == wanted else ", the worse"
    return f"{numbers}: {one} is {found}{judged}."
