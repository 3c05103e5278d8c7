"""Draws the figures of an experiment and writes them as PNG and PDF, the same bytes from the same runs."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from runner.execution.errors import unknown
from runner.report.figure_shape import FigureShape
from runner.report.figures.panel import Draw, PanelData
from runner.report.figures.style import FLOOR, RC, row_styles
from runner.report.panels import (
    class_histogram,
    heat_map,
    intervals,
    lines,
    repeats,
    samples,
    spectrum,
    states,
    tour_costs,
    tour_marginals,
)
from runner.report.stored_results import Results
from runner.report.table_shape import TableShape

DPI = 200
LEGEND_MARK, LEGEND_LETTER = 0.5, 0.062
"""Width of what stands before and around a name in the legend, and of a letter of it, in inches."""

KINDS: dict[str, Draw] = {
    "intervals": intervals.draw,
    "against_columns": lines.against_columns,
    "against_steps": lines.against_steps,
    "heat_map": heat_map.draw,
    "samples": samples.draw,
    "images": samples.draw_images,
    "class_histogram": class_histogram.draw,
    "state_shares": states.draw_shares,
    "state_gaps": states.draw_gaps,
    "spectrum": spectrum.draw,
    "repeats": repeats.draw,
    "tour_costs": tour_costs.draw,
    "tour_marginals": tour_marginals.draw,
}


def draw_figure(figure: FigureShape, shape: TableShape, results: Results) -> Figure:
    """One figure, its panels in lines of `figure.across`, one legend for all.

    Raises:
        UserError: if a panel's kind is unknown.
    """
    styles = row_styles(shape)
    rows = [row for row in shape.rows if row.role in figure.roles]
    down = math.ceil(len(figure.panels) / figure.across)
    with pyplot.rc_context(RC):
        page, grid = pyplot.subplots(
            down,
            figure.across,
            figsize=(figure.width, figure.height * down),
            squeeze=False,
            layout="constrained",
            sharey="row" if figure.share_y else "none",
        )
        for ax in grid.flat[len(figure.panels) :]:
            ax.set_axis_off()
        for place, (ax, panel) in enumerate(zip(grid.flat, figure.panels, strict=False)):
            if panel.kind not in KINDS:
                raise unknown("panel kind", panel.kind, KINDS)
            KINDS[panel.kind](ax, PanelData(shape, panel, rows, results, styles))
            ax.set_title(panel.title)
            if figure.share_y and place % figure.across:
                ax.set_ylabel("")
        kinds = [panel.kind for panel in figure.panels]
        for place, line in enumerate(grid):
            images = [image for ax in line for image in ax.images]
            if images and kinds[place * figure.across] == "heat_map":
                page.colorbar(images[0], ax=list(line), extend="max", pad=0.01, label=heat_map.COLOUR_LABEL)
        handles = [
            Line2D([], [], color=style.colour, marker=style.marker, linestyle=style.line, label=row.row)
            for row in rows
            if (style := styles[row.row]) and row.role in figure.legend
        ]
        if any(panel.floor is not None for panel in figure.panels):
            handles.append(Line2D([], [], color=FLOOR.colour, linestyle=FLOOR.line, label=figure.floor_label))
        if handles:
            longest = max(len(str(handle.get_label())) for handle in handles)
            entry = LEGEND_MARK + LEGEND_LETTER * longest
            columns = min(len(handles), max(1, int(figure.width / entry)))
            title = {0: None, 1: "one seed"}.get(results.seeds, "mean and 95 % interval over seeds")
            page.legend(
                handles=handles, loc="outside lower center", ncols=columns, frameon=False, title=title
            )
    return page


def write_figures(shape: TableShape, results: Results, folder: Path) -> list[Path]:
    """Draws every figure of the table into `folder`; returns the files written."""
    written = []
    for figure in shape.figures:
        page = draw_figure(figure, shape, results)
        with pyplot.rc_context(RC):
            for suffix, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
                path = folder / f"{figure.name}.{suffix}"
                page.savefig(path, dpi=DPI, metadata=metadata)
                written.append(path)
        pyplot.close(page)
    return written
