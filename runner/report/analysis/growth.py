"""Sentences that say how fast a metric grows over the columns of a table or along its runs."""

from __future__ import annotations

import math
from collections.abc import Iterable

from runner.report.analysis.fitted_growth import FittedGrowth, fitted
from runner.report.block_references import along_runs
from runner.report.figure_shape import Role
from runner.report.runs.column_keys import chosen
from runner.report.runs.stored_results import Results
from runner.report.table_shape import GrowthShape, TableShape


def growing(shape: TableShape, results: Results) -> list[str]:
    """One sentence for each growth and row: the exponent with its interval, and which of the laws fits best.

    A power and exponentials are lines of the logarithm; their R² can be compared, that of the values cannot.
    """
    return [
        results.growths.get(name_of(growth, row))
        or _sentence(shape, growth, row, points(shape, growth, row, results))
        for growth, row in fits(shape)
    ]


def fitted_growths(shape: TableShape, results: Results) -> list[FittedGrowth]:
    """The fits over the columns of the table; not those along runs, whose curves a record does not keep."""
    over_columns = [(growth, row) for growth, row in fits(shape) if growth.along is None]
    laws = [fitted(growth, row, points(shape, growth, row, results)) for growth, row in over_columns]
    return [law for law in laws if law is not None]


def sentences_along_runs(shape: TableShape, results: Results) -> dict[str, str]:
    """Those of the sentences that need the curves of the runs, by `name_of`."""
    said = zip(fits(shape), growing(shape, results), strict=True)
    return {name_of(growth, row): sentence for (growth, row), sentence in said if growth.along is not None}


def name_of(growth: GrowthShape, row: str) -> str:
    """A growth of a row in words, ``DMALA | D = 10 | mean_norm``; none other of the table has this name."""
    form = "exp" if growth.exponential else ""
    along = growth.along or growth.x
    return " | ".join(filter(None, (row, along, growth.metric, form)))


def fits(shape: TableShape) -> list[tuple[GrowthShape, str]]:
    """Every growth with each of its rows."""
    samplers = [row.row for row in shape.rows if row.role is Role.sampler]
    return [(growth, row) for growth in shape.growths for row in growth.rows or samplers]


def points(shape: TableShape, growth: GrowthShape, row: str, results: Results) -> list[tuple[float, float]]:
    """(x, mean of the metric over seeds), x rising; NaN where a seed has no finite value.

    The mean over the others would be too low: a seed has no value where its cost was too large. Along the
    runs seeds are averaged at each recorded step.
    """
    pairs = []
    if growth.along is not None:
        seeds = results.planned(row, growth.along)
        for _, group in results.curves(row, growth.along, growth.metric).groupby("step"):
            found = filter(math.isfinite, group["value"])
            pairs.append((along_runs(growth.x, group[growth.x].tolist()), _mean(found, seeds)))
    else:
        for column in shape.columns:
            by_seed, config = (
                results.shown(row, column.label, growth.metric),
                results.config(row, column.label),
            )
            if config is not None and (by_seed or results.at(row, column.label)):
                known = results.known(row, column.label, growth.metric)
                number = len(known) or results.planned(row, column.label)
                pairs.append((float(chosen(config, growth.x)), _mean(by_seed.values(), number)))
    return sorted(pairs)


def _mean(values: Iterable[float], seeds: int) -> float:
    """The mean of a value of each seed; NaN where one has none."""
    found = list(values)
    return sum(found) / seeds if len(found) == seeds else math.nan


def _sentence(shape: TableShape, growth: GrowthShape, row: str, found: list[tuple[float, float]]) -> str:
    where = f", {growth.along}" if growth.along is not None else ""
    about = f"{shape.metric(growth.metric).name}{where}, {row}"
    theory = f" Theory: {growth.theory[row]}." if row in growth.theory else ""
    law = fitted(growth, row, found)
    if law is None:
        places = [x for x, y in found if x > 0 and y > 0]
        if len(places) < 2:
            return f"{about}: {len(places)} of {len(found)} points have a value, too few for a fit.{theory}"
        return f"{about}: all points have {growth.symbol} = {places[0]:g}, too few for a fit.{theory}"
    fit = law.fit
    span = "" if fit.lo is None else f" (95 % interval {fit.lo:.2f} to {fit.hi:.2f})"
    about += f": grows as {law.form} with p = {fit.exponent:.2f}{span}"
    about += f", fitted to {fit.points} of {law.places} points"
    if fit.points == 2:
        return f"{about}, which are always on a line.{theory}"
    straight = [f"{share:.3f} against {name}" for name, share in law.straight.items()]
    return f"{about}; R² of straight lines of its logarithm: {', '.join(straight)}.{theory}"
