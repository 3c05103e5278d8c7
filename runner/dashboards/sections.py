"""The sections of a workspace, from the table down to the machine."""

from __future__ import annotations

from typing import Any

import wandb_workspaces.reports.v2 as wr
import wandb_workspaces.workspaces as ws

from runner.dashboards.band_chart import fields
from runner.dashboards.shown import Shown
from runner.dashboards.tables import measured

AXES = ("steps", "evaluations", "seconds")
MEDIA = ["draws", "images", "visits"]
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
    rungs = [_line(metric) for metric in moves] + [_table("rungs")]
    samples = [wr.MediaBrowser(title=key, media_keys=[key], num_columns=4) for key in MEDIA]
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
        ws.Section("Acceptance and swap rates by rung", rungs),
        ws.Section("Samples", samples),
        ws.Section("System", machine),
    ]


def _band(metric: str, axis: str, chart: str) -> Any:
    """Mean and 95 % interval over seeds, of the runs that were done when the table was copied."""
    return wr.CustomChart(
        query={"summaryTable": {"tableKey": "curves"}},
        chart_name=chart,
        chart_fields=fields(axis),
        chart_strings={"metric": metric, "title": metric},
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
