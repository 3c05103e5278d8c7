"""The numbers in the cells of a panel, and the labels of its columns: smaller, upright or left out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.text import Text

NUMBER = "cell number"
"""What a text of a cell is called, by which it is found once the axes have their places."""

SHARE = 0.86
"""Share of its cell that a number may be wide."""

SMALLEST = 4.5
"""Size of the smallest numbers, in points; where they would be smaller there are none."""


def fit_cells(ax: Axes) -> bool:
    """Makes the numbers in narrow cells smaller, or leaves all out and says what the colours mean instead.

    Labels of columns that would meet are turned.

    Returns:
        Whether something was changed.
    """
    numbers = [text for text in ax.texts if text.get_gid() == NUMBER and text.get_visible()]
    if not numbers:
        return False
    ax.apply_aspect()
    changed = _turned(ax.get_xticklabels())
    (left, _), (right, _) = ax.transData.transform([(0.0, 0.0), (1.0, 0.0)])
    share = max(text.get_window_extent().width for text in numbers) / (right - left)
    if share <= SHARE:
        return changed
    size = float(numbers[0].get_fontsize()) * SHARE / share
    for text in numbers:
        text.set_fontsize(max(size, SMALLEST))
        text.set_visible(size >= SMALLEST)
    if size < SMALLEST:
        low, high = ax.images[0].get_clim()
        ax.set_xlabel(f"{ax.get_xlabel()}\ncolours from {low:.3g} to {high:.3g}")
    return True


def _turned(labels: Sequence[Text]) -> bool:
    boxes = [label.get_window_extent() for label in labels]
    narrow = any(right.x0 - left.x1 < left.height / 3 for left, right in pairwise(boxes))
    for label in labels if narrow else ():
        label.set_rotation(90.0)
    return narrow
