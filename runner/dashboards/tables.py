"""The tables that a dashboard's panels are drawn from: the results, their curves, the rungs of ladders."""

from __future__ import annotations

import math

import pandas as pd

from metrics.statistics.inference import interval
from runner.dashboards.shown import Shown
from runner.report.table_shape import Direction

MOST_ROWS = 10_000
"""Rows of a table that a chart of W&B reads."""

COSTS = ("evaluations", "seconds")
ALPHA = 0.05
CURVE = ["row", "column", "metric", "steps", "evaluations", "seconds", "mean", "lo", "hi", "seeds"]
RUNGS = ["row", "column", "rung", "beta", "swap rate to the next (pilot)"]


def result_table(shown: Shown) -> pd.DataFrame:
    """The experiment's table: ours with intervals, what is published, and a verdict where there is a test."""
    frame = shown.summary.frame(shown.shape)
    frame["verdict"] = [
        _verdict(bool(best), p_value)
        for best, p_value in zip(frame["best"], frame["p_value"].tolist(), strict=True)
    ]
    return frame.rename(columns={"cell": "column"})


def _verdict(best: bool, p_value: float | None) -> str:
    if best:
        return "best"
    if p_value is None or pd.isna(p_value):
        return ""
    return f"{'' if p_value < ALPHA else 'not '}significantly different from the best (p = {p_value:.2g})"


def curves(shown: Shown) -> pd.DataFrame:
    """Mean and 95 % interval over seeds of each metric at each recorded step of each row and column."""
    wanted = measured(shown)
    parts = []
    for run in shown.results.runs:
        rows = run.folder.metrics() if run.summary is not None else None
        if rows is not None:
            parts.append(rows.loc[rows["metric"].isin(wanted)].assign(row=run.row, column=run.column))
    if not parts:
        return pd.DataFrame(columns=CURVE)
    lines = []
    whole = pd.concat(parts, ignore_index=True)
    for (row, column, metric, step), group in whole.groupby(["row", "column", "metric", "step"], sort=False):
        values = group["value"].tolist()
        # A mean over the other seeds would be too good.
        span = interval(values) if all(map(math.isfinite, values)) else None
        if span is not None:
            costs = group["evaluations"].mean(), group["seconds"].mean()
            ends = (span.mean if end is None else end for end in (span.lo, span.hi))
            lines.append([row, column, metric, step, *costs, span.mean, *ends, span.n])
    return _thinned(pd.DataFrame(lines, columns=CURVE))


def _thinned(curves: pd.DataFrame) -> pd.DataFrame:
    """As many points of each curve as fit, evenly over its points, the last among them."""
    every = -(-len(curves) // MOST_ROWS)
    place = curves.groupby(["row", "column", "metric"]).cumcount(ascending=False)
    return curves.loc[place % every == 0]


def rungs(shown: Shown) -> pd.DataFrame:
    """Inverse temperatures and swap rates by rung, of rows whose ladder was tuned; empty where none was."""
    lines = []
    seen = set()
    for run in shown.results.runs:
        tuning = (run.summary or {}).get("tuning") or {}
        report = tuning.get("report") or {}
        rejections, betas = report.get("pilot_rejections"), report.get("pilot_ladder")
        if not rejections or not betas or (run.row, run.column) in seen:
            continue
        seen.add((run.row, run.column))
        rates = [*(1.0 - rejection for rejection in rejections), None]
        lines += [[run.row, run.column, k, *pair] for k, pair in enumerate(zip(betas, rates, strict=False))]
    return pd.DataFrame(lines, columns=RUNGS)


def measured(shown: Shown) -> list[str]:
    """The metrics of the table, those with a better direction first, then the others that were measured."""
    metrics = sorted(shown.shape.metrics, key=lambda metric: metric.direction is Direction.none)
    others = (name for run in shown.results.runs for name in (run.summary or {}).get("metrics", {}))
    return [name for name in dict.fromkeys([*(m.metric for m in metrics), *others]) if name not in COSTS]
