"""Whether the floor of a recorded column can carry a ranking, and which numbers lie at it."""

from __future__ import annotations

from dataclasses import replace

from metrics.inference.few_seeds import ALPHA, Interval, holm, interval
from metrics.inference.prediction import prediction_interval
from metrics.inference.welch import welch_p_value
from runner.report.figure_shape import Role
from runner.report.published import Published
from runner.report.table_shape import Direction
from runner.verdicts.cells import Counterpart
from runner.verdicts.records import Measured, Record


def invalid_floor(record: Record, place: Counterpart) -> str | None:
    """Why the floor of a column is invalid; None where it is valid, or the column has none.

    It is where the table itself declares it void, where a sampler is significantly better than perfect draws
    (Welch's test, Holm-corrected over the samplers), and where two rows of independent draws, such as those
    from the target and uniform ones, do not differ significantly in the metric.
    """
    metric, rows = place.metric, _with_value(record, place)
    if metric.floor is not None and place.column in record.void:
        return "floor void: its reference samples differ"
    floor = rows.get(metric.floor or "")
    sign = -1.0 if metric.direction is Direction.max else 1.0
    if floor is not None:
        samplers = [span for one, span in rows.values() if one.role == Role.sampler.value and not one.lost]
        p_values = holm([welch_p_value(span, floor[1]) for span in samplers])
        better = [sign * (span.mean - floor[1].mean) < 0 for span in samplers]
        if any(p is not None and p < ALPHA and one for p, one in zip(p_values, better, strict=True)):
            return f"floor invalid: a sampler is better than {metric.floor}"
    draws = [span for one, span in rows.values() if one.role == Role.draws.value]
    if len(draws) > 1 and not _differ(draws[0], draws[1]):
        return "the statistic does not tell exact draws from others"
    return None


def _with_value(record: Record, place: Counterpart) -> dict[str, tuple[Measured, Interval]]:
    """The numbers of a column by row, those of runs that all ended without a value left out."""
    rows = record.rows(place.column, place.metric.metric)
    return {row: (one, one.interval) for row, one in rows.items() if one.interval is not None}


def _differ(one: Interval, other: Interval) -> bool:
    p_value = welch_p_value(one, other)
    return one.mean != other.mean if p_value is None else p_value < ALPHA


def at_floor(record: Record, place: Counterpart, ours: Measured, published: Published) -> bool:
    """Whether both numbers are at the floor.

    The published one lies where one more value of perfect draws is expected, and our mean where that of as
    many is, or they are better; and ours is not significantly worse by the table's own test. The test alone
    would not do: the less a row tells, the surer it passes.
    """
    floor = _with_value(record, place).get(place.metric.floor or "")
    if floor is None or ours.interval is None or not ours.within_floor:
        return False
    draws = _of_draws(*floor)
    one, mean = prediction_interval(draws), prediction_interval(draws, ours.interval.n)
    if one is None or mean is None:
        return False
    printed = published.mean * published.scale
    if place.metric.direction is Direction.max:
        return printed >= one[0] and ours.interval.mean >= mean[0]
    return printed <= one[1] and ours.interval.mean <= mean[1]


def _of_draws(floor: Measured, span: Interval) -> Interval:
    """The floor with the spread of its draws, which an expectation in closed form has not."""
    drawn = interval(list(floor.seeds.values()))
    if drawn is None or span.sd != 0.0:
        return span
    return replace(span, sd=drawn.sd, n=drawn.n)
