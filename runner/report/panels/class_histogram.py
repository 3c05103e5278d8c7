"""Panel `class_histogram`: the classes of a row's images, beside those of the real data."""

from __future__ import annotations

import re

from matplotlib.axes import Axes

from metrics.statistics.inference import interval
from runner.report.figures.panel import NO_RUN, PanelData, PanelKind, show_reason
from runner.report.stored_results import Run

SHARE, REAL = "class_", "real_"


def classes(runs: list[Run]) -> list[int]:
    """The classes that any of `runs` has a share of, ascending."""
    names = {name for run in runs if run.summary is not None for name in run.summary["metrics"]}
    return sorted(int(name[len(SHARE) :]) for name in names if re.fullmatch(rf"{SHARE}\d+", name))


def draw_classes(ax: Axes, data: PanelData) -> None:
    """A bar for each class, its 95 % interval over seeds, and a level line for its share in the real data."""
    (column,) = data.panel.columns
    assert data.panel.row is not None
    runs = data.results.at(data.panel.row, column)
    found = classes(runs)
    if not found:
        show_reason(ax, "no classes" if runs else NO_RUN)
        return
    row = data.panel.row
    spans = [interval(list(data.results.values(row, column, f"{SHARE}{name}").values())) for name in found]
    real = [interval(list(data.results.values(row, column, f"{REAL}{name}").values())) for name in found]
    places = range(len(found))
    ax.bar(
        places,
        [span.mean if span is not None else 0.0 for span in spans],
        yerr=[(span.margin or 0.0) if span is not None else 0.0 for span in spans],
        width=0.8,
        color=data.styles[row].colour,
        alpha=0.6,
        error_kw={"linewidth": 0.8, "capsize": 1.5},
    )
    levels = [span.mean if span is not None else 0.0 for span in real]
    ax.hlines(
        levels, [place - 0.45 for place in places], [place + 0.45 for place in places],
        color="black", linewidth=1.0, label="real data",
    )  # fmt: skip
    ax.set_xticks(list(places), [str(name) for name in found])
    ax.set_ylim(0, data.panel.limits[1] if data.panel.limits is not None else None)
    ax.grid(False, axis="x")
    ax.set_xlabel("class")
    ax.set_ylabel("share")


KINDS = {"class_histogram": PanelKind(draw_classes, required=("row",), optional=("limits",))}
