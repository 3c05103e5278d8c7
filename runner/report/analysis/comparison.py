"""Sentences that compare two rows by a paired t-test over seeds, whatever its result."""

from __future__ import annotations

from collections.abc import Iterable

from metrics.inference.few_seeds import ALPHA, POWER
from runner.report.analysis.compared_rows import ComparedRows
from runner.report.numerals import numeral, significant
from runner.report.table_shape import Direction

BETTER = {Direction.min: "lower", Direction.max: "higher"}


def compared(pairs: Iterable[ComparedRows]) -> list[str]:
    """One sentence for each pair of rows in a column.

    Two rows are not called different whose means over all their seeds, which the table shows, are in the
    other order than those that the test is of.
    """
    return [_sentence(pair) for pair in pairs]


def _sentence(pair: ComparedRows) -> str:
    about = f"{pair.metric.name}, {pair.column}: {pair.row} against {pair.against}"
    if pair.without_value:
        return f"{about}: not compared, as {pair.without_value}."
    scale, n, difference = pair.metric.scale, len(pair.seeds), pair.difference
    if difference is None:
        return f"{about}: no seed with a value of both."
    margin = None if difference.margin is None else difference.margin / scale
    means = [sum(values[seed] for seed in pair.seeds) / n / scale for values in (pair.first, pair.second)]
    about += f", {' against '.join(significant(mean, 3, margin) for mean in means)}"
    if pair.holm_p_value is None or margin is None or pair.detectable is None:
        return f"{about} ({n} shared seed{'s' * (n > 1)}, too few or too much alike for a test)."
    written = numeral(difference.mean / scale, margin)
    about += f", difference {written.mean} ± {written.margin} (95 % interval; paired t-test over seeds)"
    if pair.contradicted:
        both = [
            (sum(values.values()) / len(values) / scale, len(values)) for values in (pair.first, pair.second)
        ]
        shown = " against ".join(f"{significant(mean, 3, margin)} (n = {size})" for mean, size in both)
        return (
            f"{about}: not called different, as these are the means over the {n} shared seeds, and those "
            f"over all seeds are in the other order, {shown}."
        )
    tested = f"{'Holm-adjusted p' if pair.tests > 1 else 'p'} = {pair.holm_p_value:.2g}, n = {n}"
    if pair.holm_p_value >= ALPHA:
        level = f", level {ALPHA:g} / {pair.tests}" if pair.tests > 1 else ""
        smallest = f"smallest difference detectable at {100 * POWER:g} % power{level}"
        size = pair.detectable / scale
        return f"{about}: no significant difference ({tested}, {smallest}: {significant(size, 2, size)})."
    found = "lower" if difference.mean < 0 else "higher"
    wanted = BETTER.get(pair.metric.direction)
    verdict = "" if wanted is None else ", which is better" if found == wanted else ", which is worse"
    return f"{about}: significantly different ({tested}); {pair.row} is {found}{verdict}."
