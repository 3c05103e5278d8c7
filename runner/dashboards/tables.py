"""The tables that a dashboard's panels are drawn from: the results, their curves, the rungs of ladders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from metrics.inference.few_seeds import interval
from runner.dashboards.shown import Shown
from runner.report.block_references import along_runs
from runner.report.runs.experiment_run import Run
from runner.report.table_shape import Direction

MOST_ROWS = 10_000
"""Rows of a table that a chart of W&B reads."""

COSTS = ("evaluations", "seconds")
ALPHA = 0.05
CURVE = ["row", "column", "metric", "steps", "evaluations", "seconds", "mean", "lo", "hi", "seeds"]
RATES = ("acceptance", "swap_rate")
RUNGS = ["line", "row", "column", "of", "rung", "beta", *RATES, "seeds"]


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
    wanted, lines = measured(shown), list[list[Any]]()
    for row, column in dict.fromkeys((run.row, run.column) for run in shown.results.runs):
        for metric, curve in shown.results.curves_of(row, column, wanted).items():
            for step, group in curve.groupby("step"):
                values = group["value"].tolist()
                # A mean over the other seeds would be too good.
                span = interval(values) if all(map(math.isfinite, values)) else None
                if span is not None:
                    costs = (along_runs(cost, group[cost].tolist()) for cost in COSTS)
                    ends = (span.mean if end is None else end for end in (span.lo, span.hi))
                    lines.append([row, column, metric, step, *costs, span.mean, *ends, span.n])
    return _thinned(pd.DataFrame(lines, columns=CURVE))


def _thinned(curves: pd.DataFrame) -> pd.DataFrame:
    """As many points of each curve as fit, evenly over its points, the last among them."""
    every = -(-len(curves) // MOST_ROWS)
    place = curves.groupby(["row", "column", "metric"]).cumcount(ascending=False)
    return curves.loc[place % every == 0]


def rungs(shown: Shown) -> pd.DataFrame:
    """Acceptance and swap rates by rung, means over the seeds of a row; none where nothing has a ladder.

    A swap rate is that of a rung with the next.

    Runs of earlier versions have those of their pilot only, on its own ladder.
    """
    found: dict[tuple[str, str, str], dict[int, _Ladder]] = {}
    for run in shown.results.runs:
        if (ladder := _ladder(run)) is not None:
            found.setdefault((run.row, run.column, ladder.of), {}).setdefault(run.seed, ladder)
    parts = []
    for (row, column, of), by_seed in found.items():
        ladders = list(by_seed.values())
        beta = pd.Series(ladders[0].betas, dtype=float)
        rates = {
            name: pd.DataFrame([each.rates.get(name, []) for each in ladders], dtype=float).mean()
            for name in RATES
        }
        part = pd.DataFrame({"beta": beta, **rates}).rename_axis("rung").reset_index()
        line = f"{row} · {column}{'' if of == 'run' else ' (pilot)'}"
        parts.append(part.assign(line=line, row=row, column=column, of=of, seeds=len(ladders)))
    return pd.concat(parts)[RUNGS] if parts else pd.DataFrame(columns=RUNGS)


class _Ladder(NamedTuple):
    """What is known by rung, of ``run`` or of its ``pilot``."""

    of: str
    betas: Sequence[float]
    rates: Mapping[str, Sequence[float]]


def _ladder(run: Run) -> _Ladder | None:
    summary = run.summary or {}
    tuning = summary.get("tuning") or {}
    if rates := summary.get("rungs"):
        tuned = (tuning.get("hyperparameters") or {}).get("ladder") or rates.get("inverse_temperature")
        own = tuned or run.config.sampler.get("ladder")
        return _Ladder("run", own if isinstance(own, Sequence) and not isinstance(own, str) else [], rates)
    report = tuning.get("report") or {}
    if not (rejections := report.get("pilot_rejections")) or not report.get("pilot_ladder"):
        return None
    rates = {"swap_rate": [1.0 - rejection for rejection in rejections]}
    return _Ladder("pilot", report["pilot_ladder"], rates)


def measured(shown: Shown) -> list[str]:
    """The metrics of the table, those with a better direction first, then the others that were measured."""
    metrics = sorted(shown.shape.metrics, key=lambda metric: metric.direction is Direction.none)
    others = (name for run in shown.results.runs for name in (run.summary or {}).get("metrics", {}))
    return [name for name in dict.fromkeys([*(m.metric for m in metrics), *others]) if name not in COSTS]
