"""The sections of a workspace, from the table down to the machine."""

from __future__ import annotations

from typing import Any

import wandb_workspaces.reports.v2 as wr
import wandb_workspaces.workspaces as ws

from runner.dashboards.band_chart import fields
from runner.dashboards.shown import Shown
from runner.dashboards.tables import RATES, measured, rungs

AXES = ("steps", "evaluations", "seconds")
MEDIA = ("draws", "images", "visits")
MOVES = ("acceptance", "swap", "round_trips", "level_occupancy", "jump")
"""How the names of metrics begin that say how chains move and replicas swap."""

MACHINE = ["system/cpu", "system/memory_percent", "system/proc.memory.rssMB", "system/gpu.0.gpu"]


def sections(shown: Shown, chart: str, figures: list[str]) -> list[Any]:
    """All sections.

    Args:
        chart: the name of the chart of means and intervals.
        figures: names of the figures that were copied with the table.
    """
    metrics = measured(shown)
    table = [wr.MarkdownPanel(markdown=f"# {shown.title}\n\n{shown.shape.caption or ''}")]
    table += [_table("results")]
    table += [wr.MediaBrowser(title="Figures", media_keys=figures, num_columns=1)] if figures else []
    moves = [metric for metric in metrics if metric.startswith(MOVES)]
    by_rung = [*map(_by_rung, RATES), _table("rungs")] if len(rungs(shown)) else []
    movement = [*by_rung, *(_line(metric) for metric in moves)]
    samples = [wr.MediaBrowser(title=key, media_keys=[key], num_columns=4) for key in _media(shown)]
    machine = [wr.LinePlot(title=name, x="RelativeTime(Process)", y=[name]) for name in MACHINE]
    return [
        ws.Section("Table", table, is_open=True, pinned=True),
        *(
            ws.Section(
                f"Against {axis}", [_band(metric, axis, chart) for metric in metrics], is_open=not place
            )
            for place, axis in enumerate(AXES)
        ),
        ws.Section("While it runs", [_line(metric) for metric in metrics]),
        ws.Section("Acceptance and swap rates by rung", movement),
        ws.Section("Samples", samples),
        ws.Section("System", machine),
    ]


def _media(shown: Shown) -> list[str]:
    """The pictures that runs have: those in their folders, and the chains of a model that they wait for."""
    runs = [run for run in shown.results.runs if run.summary is not None]
    files = [name for name in MEDIA if any((run.folder.path / f"{name}.npz").is_file() for run in runs)]
    waits = any(run.config.task.name != "learn" and "training" in run.config.target for run in runs)
    return [*files, *(["training/draws"] if waits else [])]


def _band(metric: str, axis: str, chart: str) -> Any:
    """Mean and 95 % interval over seeds, of the runs that were done when the table was copied."""
    return wr.CustomChart(
        query={"summaryTable": {"tableKey": "curves"}},
        chart_name=chart,
        chart_fields=fields(axis),
        chart_strings={"metric": metric, "title": metric},
    )


def _by_rung(rate: str) -> Any:
    """A line over the rungs for each row and column, in a chart of W&B's own."""
    return wr.CustomChart(
        query={"summaryTable": {"tableKey": "rungs"}},
        chart_name="wandb/lineseries/v0",
        chart_fields={"step": "rung", "lineKey": "line", "lineVal": rate},
        chart_strings={"title": f"{rate} by rung", "xname": "rung"},
    )


def _line(metric: str) -> Any:
    """Mean and standard error of each group of runs, as they go on."""
    return wr.LinePlot(
        title=f"{metric}: mean and standard error over seeds",
        x=wr.Metric("step"),
        y=[wr.Metric(metric)],
        groupby_aggfunc="mean",
        groupby_rangefunc="stderr",
        max_runs_to_show=100,
    )


def _table(name: str) -> Any:
    return wr.WeavePanelSummaryTable(table_name=name)
