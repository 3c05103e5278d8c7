"""Draws the figures of an experiment and writes them as PNG and PDF; the same runs give the same bytes."""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from runner.files.atomic_files import write_bytes
from runner.report.figure_shape import FigureShape, Role
from runner.report.figures.labels.dollar_signs import show_dollars
from runner.report.figures.labels.fitting import fit_labels
from runner.report.figures.panel import PanelData
from runner.report.figures.partial_means import partial_handles
from runner.report.figures.published_marks import published_handles
from runner.report.figures.reference_lines import MOST_ENTRIES, drawn_references, name_at_ends
from runner.report.figures.style import RC, RowStyle, row_styles
from runner.report.panel_kinds import panel_kind, shares_axes
from runner.report.runs.stored_results import Results
from runner.report.table_shape import RowShape, TableShape

DPI = 200

LEGEND_MARK, LEGEND_LETTER = 0.5, 0.062
"""Width of the mark and the space beside a name in the legend, and of a letter of the name, in inches."""

LEGEND_LINE = 0.17
"""Height of a line of the legend, in inches."""


def draw_figure(figure: FigureShape, shape: TableShape, results: Results) -> Figure:
    """One figure, its panels in lines of `figure.across`, one legend for all.

    Raises:
        UserError: if a panel's kind is unknown.
    """
    styles = row_styles(shape, results)
    jobs = {run.row for run in results.runs}
    rows = [row for row in shape.rows if row.role in figure.roles and _drawn(row, figure, shape, jobs)]
    down = math.ceil(len(figure.panels) / figure.across)
    shared = figure.share_y and shares_axes(figure, shape)
    with rc_context(RC):
        page = Figure(figsize=(figure.width, figure.height * down), dpi=DPI, layout="constrained")
        FigureCanvasAgg(page)
        grid = page.subplots(down, figure.across, squeeze=False, sharey="row" if shared else "none")
        for ax in grid.flat[len(figure.panels) :]:
            ax.set_axis_off()
        for place, (ax, panel) in enumerate(zip(grid.flat, figure.panels, strict=False)):
            panel_kind(panel.kind).draw(
                ax, PanelData(shape, panel, rows, results, styles, figure.floor_label)
            )
            ax.set_title(panel.title)
            if shared and place % figure.across:
                ax.set_ylabel("")
        for line, first in zip(grid, figure.panels[:: figure.across], strict=True):
            images = [image for ax in line for image in ax.images]
            label = panel_kind(first.kind).colour_label
            if images and label is not None:
                page.colorbar(images[0], ax=list(line), extend="max", pad=0.01, label=label)
        named = [row for row in rows if row.role in figure.legend]
        # Before the first run is done, all.
        measured = [row for row in named if _measured(row, figure, results)] or named
        _draw_legend(page, measured, figure, results.seeds, styles)
        show_dollars(page)
        fit_labels(page)
    return page


def _drawn(row: RowShape, figure: FigureShape, shape: TableShape, jobs: Collection[str]) -> bool:
    """Whether a panel may show the row: it has jobs; one of exact values has those of its metrics alone."""
    shown = any(row in shape.drawn_rows(panel.metric) for panel in figure.panels)
    return shown and (bool(row.exact) or row.row in jobs)


def _measured(row: RowShape, figure: FigureShape, results: Results) -> bool:
    """Whether a run of the row is done, or a panel has a recorded number of it."""
    return any(run.row == row.row and run.summary is not None for run in results.runs) or any(
        results.interval(row.row, column, metric) is not None
        for panel in figure.panels
        if (metric := panel.metric) is not None
        for column in panel.columns
    )


def _draw_legend(
    page: Figure, rows: Sequence[RowShape], figure: FigureShape, seeds: int, styles: Mapping[str, RowStyle]
) -> None:
    """One legend for all panels: how each row is drawn, what other marks mean, and what else has a name.

    Of references it has those alone that a panel shows. A long one leaves them to the panels, where they are
    named at the ends of their lines.
    """
    lines = [line for ax in page.axes for line in ax.lines]
    joined = {line.get_color() for line in lines if line.get_linestyle() != "None"}
    shown = drawn_references(page.axes)
    named = shown.keys() | {str(line.get_label()) for line in lines}
    handles: list[Artist] = [
        _row_handle(styles[row.row], row.row, styles[row.row].colour in joined)
        for row in rows
        if row.role is not Role.draws or row.row in named
    ]
    handles += [
        Line2D([], [], color=line.get_color(), linestyle=line.get_linestyle(), label=name)
        for name, line in shown.items()
        if name not in styles
    ]
    handles += published_handles(page.axes)
    handles += partial_handles(page.axes)
    handles += _named_artists(page.axes)
    if len(handles) > MOST_ENTRIES:
        written = {name for ax in page.axes for name in name_at_ends(ax)}
        handles = [handle for handle in handles if handle.get_label() not in written]
    title = {0: None, 1: "one seed"}.get(seeds, "mean and 95 % interval over seeds")
    if handles:
        lower, columns = _legend_lines(handles, figure.width)
        more = lower - _legend_lines(handles, figure.whole_width or figure.width)[0]
        page.set_figheight(page.get_figheight() + LEGEND_LINE * more)
        # Matplotlib fills column by column; names are read line by line.
        handles = [handle for column in range(columns) for handle in handles[column::columns]]
        page.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, title=title)
    elif any(panel_kind(panel.kind).has_intervals for panel in figure.panels):
        page.legend(handles=[], loc="outside lower center", frameon=False, title=title)


def _legend_lines(handles: Sequence[Artist], width: float) -> tuple[int, int]:
    """How many lines and columns a legend of this width has, in inches."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    most = min(len(handles), max(1, int(width / (LEGEND_MARK + LEGEND_LETTER * longest))))
    lines = math.ceil(len(handles) / most)
    return lines, math.ceil(len(handles) / lines)


def _row_handle(style: RowStyle, name: str, joined: bool) -> Line2D:
    """The legend's entry of a row: its line where that joins means, else a solid one as of an interval."""
    return Line2D([], [], **style.look | ({} if joined else {"linestyle": "-"}), label=name)


def _named_artists(axes: Sequence[Axes]) -> list[Artist]:
    """A legend entry for each kind of level lines, boxes and bands that panels name.

    Such are the levels of the real data.
    """
    found: dict[str, Artist] = {}
    for ax in axes:
        for drawn in (*ax.collections, *ax.patches):
            name = str(drawn.get_label())
            if not name or name.startswith("_"):
                continue
            if isinstance(drawn, LineCollection):
                found[name] = Line2D([], [], color=to_rgba_array(drawn.get_colors())[0].tolist(), label=name)
            elif isinstance(drawn, Patch):
                face, edge = drawn.get_facecolor(), drawn.get_edgecolor()
                width = drawn.get_linewidth()
                found[name] = Patch(facecolor=face, edgecolor=edge, linewidth=width, label=name)
    return list(found.values())


def write_figures(shape: TableShape, results: Results, folder: Path) -> list[Path]:
    """Draws every figure of the table into `folder`; returns the files written."""
    written = []
    for figure in shape.figures:
        page = draw_figure(figure, shape, results)
        with rc_context(RC):
            page.set_layout_engine(None)  # both files have this layout
            for suffix, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
                path = folder / f"{figure.name}.{suffix}"
                drawn = io.BytesIO()  # a file that is cut short would look like a figure
                page.savefig(drawn, format=suffix, dpi=DPI, metadata=metadata)
                write_bytes(path, drawn.getbuffer())
                written.append(path)
    return written
