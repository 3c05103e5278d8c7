"""Breaks titles and labels of axes that are too long for their panel, and thins labels of ticks that meet."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

from runner.report.figures.labels.broken_lines import IN_ROW, LEFT, break_line
from runner.report.figures.labels.cell_numbers import fit_cells
from runner.report.figures.labels.tick_labels import GAP, thin_tick_labels

LABEL = 0.85
"""Share of its axis that a broken label may be long: more lines of one make the axis of another shorter."""


LEGEND = 0.35
"""Share of the page that a legend may be high; a higher one makes the page higher, no panel lower."""


def fit_labels(page: Figure) -> None:
    """Places the axes; breaks titles and labels that are too long, and thins labels of ticks that meet."""
    for legend in page.legends:
        _fit_legend(page, legend)
    _lay_out(page)
    for ax in page.axes:
        _move_aside(ax)
    changed = [_thinned_or_broken(ax) for ax in page.axes]
    changed += [_break(title, share) for title, share in _titles_that_meet(page)]
    if any(changed):
        _lay_out(page)


def _fit_legend(page: Figure, legend: Legend) -> None:
    """Breaks names that are wider than the page; makes the page higher where the legend takes most of it."""
    texts, room = legend.get_texts(), page.bbox.width
    if texts and (over := legend.get_window_extent().width - room) > 0:
        widest = max(text.get_window_extent().width for text in texts)
        for text in texts:
            _break(text, text.get_window_extent().width / max(widest - over, 1.0))
    high, own = page.get_figheight(), legend.get_window_extent().height / page.dpi
    page.set_figheight(max(high, high * (1 - LEGEND) + own))


def _thinned_or_broken(ax: Axes) -> bool:
    """Whether a label of the axes did not fit; it does now."""
    changed = thin_tick_labels(ax) | fit_cells(ax)
    room = ax.get_window_extent()
    for label, across in ((ax.xaxis.label, True), (ax.yaxis.label, False)):
        own = label.get_window_extent()
        share = own.width / room.width if across else own.height / room.height
        if share > 1.0:
            changed |= _break(label, share / LABEL)
    return changed


def _move_aside(ax: Axes) -> None:
    """Moves what stands in the lines of rows to the right, where a mark is at the left."""
    marks = [line.get_transform().transform(line.get_xydata()) for line in ax.lines if line.get_marker()]
    places = np.concatenate([np.empty((0, 2)), *marks])
    for text in ax.texts:
        box = text.get_window_extent()
        if text.get_gid() == IN_ROW and box.padded(GAP * ax.figure.dpi / 72).count_contains(places):
            text.set(x=1.0 - LEFT, ha="right")


def _titles_that_meet(page: Figure) -> list[tuple[Text, float]]:
    """Titles that meet another one or an edge of the page, with their share of the room that they have.

    A title stands over the middle of its panel: its room reaches half the way to the next one beside it.
    """
    titles = [ax.title for ax in page.axes if ax.title.get_text()]
    boxes, gap = [title.get_window_extent() for title in titles], GAP * page.dpi / 72
    found = []
    for title, own in zip(titles, boxes, strict=True):
        middle = (own.x0 + own.x1) / 2
        beside = [box for box in boxes if box is not own and box.y0 < own.y1 and own.y0 < box.y1]
        away = [abs(middle - (box.x0 + box.x1) / 2) for box in beside]
        room = min(2 * middle, 2 * (page.bbox.width - middle), *away) - gap
        meets = any(box.x0 - gap < own.x1 and own.x0 - gap < box.x1 for box in beside)
        if meets or own.x0 < 0 or own.x1 > page.bbox.width:
            found.append((title, own.width / room))
    return found


def _break(text: Text, share: float) -> bool:
    """Breaks `text` where it is wider than its room, by this share of it; returns whether it is."""
    if share <= 1.0:
        return False
    lines = text.get_text().split("\n")
    most = int(max(map(len, lines)) / share)
    text.set_text("\n".join(part for line in lines for part in break_line(line, most)))
    return True


def _lay_out(page: Figure) -> None:
    """Places the axes as a drawing would, and draws nothing."""
    if (engine := page.get_layout_engine()) is not None:
        engine.execute(page)
