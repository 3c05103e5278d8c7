"""The labels of a horizontal axis: which a logarithmic one has, and fewer where it is too narrow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, Formatter, LogLocator, MaxNLocator, NullFormatter

GAP = 3.0
"""Least distance of two labels, in points."""


def spans_decades(ax: Axes, number: int) -> bool:
    """Whether the axis spans `number` factors of ten; on less than two Matplotlib labels marks that meet."""
    low, high = ax.get_xlim()
    return bool(high >= 10.0**number * low)


def distinct(values: Sequence[float]) -> list[str]:
    """Plain numbers of six digits, or of as many as tell them from each other."""
    for digits in range(6, 18):
        labels = [f"{value:.{digits}g}" for value in values]
        if len(set(labels)) == len(set(values)):
            break
    return labels


class _Distinct(Formatter):
    """Labels of ticks that differ; on an axis of less than a factor of two they can be anywhere."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}"

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        return distinct(values)


class _AtLeastTwo(LogLocator):
    """Ticks at `subs`; where fewer than two of them are in view, at every digit or at round numbers.

    One label alone, such as 0.1 on an axis from 0.07 to 0.1, does not say what the others are.
    """

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        every_digit, round_numbers = LogLocator(subs=range(1, 10)), MaxNLocator(4)
        for values in (super().tick_values, every_digit.tick_values, round_numbers.tick_values):
            ticks = [float(tick) for tick in values(vmin, vmax) if vmin <= tick <= vmax]
            if len(ticks) >= 2:
                break
        return ticks


def label_values(ax: Axes, values: Sequence[float]) -> None:
    """These values alone, as plain numbers."""
    ax.set_xticks(values, distinct(values))
    ax.minorticks_off()


def label_ticks(ax: Axes) -> None:
    """Powers of ten, and 2 and 5 times them on less than two decades; at least two."""
    ax.xaxis.set_minor_formatter(NullFormatter())
    if not spans_decades(ax, 2):
        ax.xaxis.set_major_locator(_AtLeastTwo(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(_Distinct())
    else:
        ax.xaxis.set_major_locator(LogLocator(numticks=4))


def thin_tick_labels(ax: Axes) -> bool:
    """Leaves out ticks of a horizontal axis of numbers, so that no two labels meet.

    A logarithmic one keeps every second, third, ... tick, of those to begin with the ones with the shortest
    labels: 0.002 rather than 0.00225. Ticks of a linear one may be anywhere: it keeps those with room.

    Returns:
        Whether ticks were left out.
    """
    low, high = ax.get_xlim()
    labels = [label for label in ax.get_xticklabels() if label.get_text() and low <= _at(label) <= high]
    gap = GAP * ax.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    log = ax.get_xscale() == "log"
    # The columns of an image have names, such as 010, that its own fitting turns.
    thinned = log or (not ax.images and _are_numbers(labels))
    if not thinned or not _meet(labels, gap):
        return False
    kept = _every_nth(labels, gap) if log else _with_room(labels, gap)
    ax.xaxis.set_major_locator(FixedLocator([_at(label) for label in kept]))
    return True


def _every_nth(labels: Sequence[Text], gap: float) -> Sequence[Text]:
    """Of the fewest left out between two, those with the shortest labels."""
    for stride in range(2, len(labels) + 1):
        kept = [labels[first::stride] for first in range(stride) if not _meet(labels[first::stride], gap)]
        if kept:
            break
    return min(kept, key=lambda some: sum(len(label.get_text()) for label in some) / len(some))


def _with_room(labels: Sequence[Text], gap: float) -> Sequence[Text]:
    """Those that do not meet the one before, from the first on."""
    kept = [labels[0]]
    for label in labels[1:]:
        if not _meet([kept[-1], label], gap):
            kept.append(label)
    return kept


def _are_numbers(labels: Sequence[Text]) -> bool:
    """Whether all are plain numbers, no names."""
    try:
        return all(math.isfinite(float(label.get_text().replace("\N{MINUS SIGN}", "-"))) for label in labels)
    except ValueError:
        return False


def _at(label: Text) -> float:
    return float(label.get_position()[0])


def _meet(labels: Sequence[Text], gap: float) -> bool:
    boxes = [label.get_window_extent() for label in labels]
    return any(right.x0 - left.x1 < gap for left, right in pairwise(boxes))
