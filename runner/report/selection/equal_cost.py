"""Whether runs of different lengths took as many evaluations of their target, and so can be compared."""

from __future__ import annotations

from collections.abc import Sequence

from runner.report.analysis.unequal_costs import CLOSE
from runner.report.selection.stored_runs import StoredRun

STEPS = "task.steps"


def lengths_at_equal_cost(runs: Sequence[StoredRun], inner: Sequence[str], outer: Sequence[str]) -> bool:
    """Whether samplers have lengths of their own on a problem, and all runs there as many evaluations.

    That holds of five replicas of parallel tempering for 1,000 steps and a plain sampler for 5,000. It does
    not where no run of a row is done, whose cost is not known.

    Args:
        inner: settings that make a row.
        outer: settings that make a column; `STEPS` among them.
    """
    others = [key for key in outer if key != STEPS]
    lengths: dict[tuple[object, ...], dict[object, set[object]]] = {}
    costs: dict[tuple[object, ...], dict[object, list[float]]] = {}
    for run in runs:
        column = tuple(run.settings.get(key) for key in others)
        row = tuple(run.settings.get(key) for key in inner)
        lengths.setdefault(column, {}).setdefault(row, set()).add(run.settings.get(STEPS))
        found = costs.setdefault(column, {}).setdefault(row, [])
        if run.summary is not None:
            found.append(float(run.summary.get("evaluations", 0.0)))
    if any(len(found) > 1 for rows in lengths.values() for found in rows.values()):
        return False
    several = any(len(set().union(*rows.values())) > 1 for rows in lengths.values())
    return several and all(_are_close(list(rows.values())) for rows in costs.values())


def _are_close(costs: Sequence[Sequence[float]]) -> bool:
    """Whether the costs of all rows are known and close to each other; draws for reference have none."""
    known = [cost for of_row in costs for cost in of_row if cost]
    return all(costs) and min(known, default=0.0) >= CLOSE * max(known, default=0.0)
