"""The labels of a logarithmic horizontal axis: which there are, and fewer where it is too narrow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, Formatter, LogLocator, NullFormatter
from matplotlib.transforms import BboxBase

GAP = 3.0
"""Least distance of two labels, in points."""


def spans_a_decade(ax: Axes) -> bool:
    """Whether the axis spans a factor of ten; on a shorter one Matplotlib labels every mark."""
    low, high = ax.get_xlim()
    return bool(high >= 10 * low)


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


def label_values(ax: Axes, values: Sequence[float]) -> None:
    """These values alone, as plain numbers."""
    ax.set_xticks(values, distinct(values))
    ax.minorticks_off()


def label_ticks(ax: Axes) -> None:
    """Powers of ten, and 2 and 5 times them where the axis spans less than two decades."""
    low, high = ax.get_xlim()
    ax.xaxis.set_minor_formatter(NullFormatter())
    if high / low < 100:
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(_Distinct())
    else:
        ax.xaxis.set_major_locator(LogLocator(numticks=4))


def thin_tick_labels(ax: Axes) -> bool:
    """Keeps every second, third, ... tick of a logarithmic horizontal axis, so that no two labels meet.

    Of the ticks to begin with, those with the shortest labels are taken: 0.002 rather than 0.00225.

    Returns:
        Whether ticks were left out.
    """
    if ax.get_xscale() != "log":
        return False
    low, high = ax.get_xlim()
    labels = [label for label in ax.get_xticklabels() if label.get_text() and low <= _at(label) <= high]
    gap = GAP * ax.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    boxes = [label.get_window_extent() for label in labels]
    if not _meet(boxes, gap):
        return False
    for stride in range(2, len(labels) + 1):
        kept = [labels[first::stride] for first in range(stride) if not _meet(boxes[first::stride], gap)]
        if kept:
            shortest = min(kept, key=lambda some: sum(len(label.get_text()) for label in some) / len(some))
            ax.xaxis.set_major_locator(FixedLocator([_at(label) for label in shortest]))
            return True
    return False


def _at(label: Text) -> float:
    return float(label.get_position()[0])


def _meet(boxes: Sequence[BboxBase], gap: float) -> bool:
    return any(right.x0 - left.x1 < gap for left, right in pairwise(boxes))
