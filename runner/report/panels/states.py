"""Panels `state_shares` and `state_gaps`: the states of a small binary target, one cell each.

The first half of the bits runs down and the second half across; the states that the target names as flat and
sharp modes are framed and lettered. A line below says what the numbers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle
from omegaconf import DictConfig

from runner.execution.errors import UserError
from runner.report.figures.labels.cell_numbers import NUMBER
from runner.report.figures.panel import PanelData, PanelKind, show_missing
from runner.report.figures.visits import WIDEST_GAP, shares

if TYPE_CHECKING:
    from targets import Binary, Target

MOST_BITS = 6
FRAMES = (("flat_states", "F", "solid"), ("sharp_states", "S", "dashed"))


def draw_shares(ax: Axes, data: PanelData) -> None:
    """The share of draws in each state, mean over seeds; without a row, the target's probabilities."""
    if (target := _target(ax, data)) is None:
        return
    exact = probabilities_of(target)
    share = exact if data.panel.row is None else _mean_share(ax, data)
    if share is not None:
        top = data.panel.limits[1] if data.panel.limits else float(exact.max())
        labels = [f"{value:.3f}".lstrip("0") for value in share]
        what = "exact probability" if data.panel.row is None else "share of draws"
        _cells(ax, target, share, Normalize(0.0, top), "Blues", labels, what)


def draw_gaps(ax: Axes, data: PanelData) -> None:
    """The same share less the target's probability: purple where that is too much, orange too little."""
    target = _target(ax, data)
    share = None if target is None else _mean_share(ax, data)
    if target is None or share is None:
        return
    gaps = share - probabilities_of(target)
    end = data.panel.limits[1] if data.panel.limits else WIDEST_GAP
    labels = [_signed(value) for value in gaps]
    _cells(ax, target, gaps, Normalize(-end, end), "PuOr", labels, "share less probability")


def _signed(value: float) -> str:
    """Three decimals without the zero before them; no sign where they are all zero."""
    text = f"{value:+.3f}".replace("0.", ".", 1)
    return text[1:] if text.endswith(".000") else text


def probabilities_of(target: Target) -> np.ndarray:
    """Exact probabilities of the target's states, shape ``(size,)``."""
    from targets import Enumerable

    assert isinstance(target, Enumerable)
    found: np.ndarray = target.probabilities().cpu().numpy()
    return found


def small_binary_target(config: DictConfig) -> Target:
    """The run's target.

    Raises:
        UserError: if its states cannot be drawn one by one.
    """
    from runner.problem.build import build_target  # takes torch, and only some tables have such a panel
    from targets import Binary

    target = build_target(config)
    if not isinstance(target.space, Binary) or target.space.d > MOST_BITS or target.space.d < 2:
        raise UserError(
            f"A panel of states needs a binary target of 2 to {MOST_BITS} coordinates, "
            f"{target.space} was given."
        )
    return target


def _target(ax: Axes, data: PanelData) -> Target | None:
    if not data.runs:
        show_missing(ax)
        return None
    return small_binary_target(data.runs[0].config)


def _mean_share(ax: Axes, data: PanelData) -> np.ndarray | None:
    found = shares(data.own_runs)
    if found is None:
        show_missing(ax, data.runs, "stored visits")
        ax.set(xticks=[], yticks=[])
        return None
    mean: np.ndarray = found.mean(0)
    return mean


def _cells(
    ax: Axes,
    target: Target,
    values: np.ndarray,
    norm: Normalize,
    colours: str,
    labels: Sequence[str],
    what: str,
) -> None:
    space = cast("Binary", target.space)
    d = space.d
    down, across = d // 2, d - d // 2
    ax.grid(False)
    ax.imshow(values.reshape(2**down, 2**across), cmap=colours, norm=norm, interpolation="nearest")
    framed: set[str] = set()
    for place, label in enumerate(labels):
        row, column = divmod(place, 2**across)
        red, green, blue, _ = colormaps[colours](norm(values[place]))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        ink = "white" if dark else "black"
        ax.text(column, row, label, ha="center", va="center", size=5.5, color=ink, gid=NUMBER)
        for name, letter, line in FRAMES:
            named = getattr(target, name, None)
            if named is not None and place in space.index(named).tolist():
                corner = (column - 0.46, row - 0.46)
                ax.add_patch(Rectangle(corner, 0.92, 0.92, fill=False, edgecolor=ink, linestyle=line))
                ax.text(column - 0.38, row - 0.36, letter, ha="left", va="top", size=5, color=ink)
                framed.add(f"{letter} {name.removesuffix('_states')}")
    for axis, bits in ((ax.yaxis, down), (ax.xaxis, across)):
        axis.set_ticks(range(2**bits), [f"{place:0{bits}b}" for place in range(2**bits)])
    ax.tick_params(length=0)
    ax.set_ylabel("first bits", size=6.5)
    named = f"; {', '.join(sorted(framed))}" if framed else ""
    ax.set_xlabel(f"last bits{named}\n{what}", size=6.5)


KINDS = {
    "state_shares": PanelKind(draw_shares, optional=("row", "limits")),
    "state_gaps": PanelKind(draw_gaps, required=("row",), optional=("limits",)),
}
