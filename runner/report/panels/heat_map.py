"""Panel `heat_map`: the share of draws in each cell of a grid, or the probability of each cell."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from omegaconf import DictConfig

from runner.report.figures.panel import PanelData, PanelKind, show_missing
from runner.report.figures.visits import pooled


def target_probabilities(config: DictConfig) -> np.ndarray:
    """Exact probabilities of the run's target on its grid, shape ``(levels, levels)``."""
    from runner.problem.build import build_target  # takes torch, and only some tables have such a panel
    from targets import Discrete, Enumerable

    target = build_target(config)
    assert isinstance(target, Enumerable)
    assert isinstance(target.space, Discrete)
    levels = target.space.levels
    found: np.ndarray = target.probabilities().reshape(levels, levels).cpu().numpy()
    return found


def draw_heat_map(ax: Axes, data: PanelData) -> None:
    """Draws one grid; all panels of a column share the colours of the target's probabilities."""
    ax.grid(False)
    ax.set_aspect("equal")
    if not data.runs:
        show_missing(ax)
        return
    exact = target_probabilities(data.runs[0].config)
    share = exact if data.panel.row is None else pooled(data.own_runs)
    if share is None:
        show_missing(ax, data.runs, "stored visits")
        ax.set(xticks=[], yticks=[])
        return
    norm = PowerNorm(0.5, vmin=0.0, vmax=float(exact.max()))
    cells = share.reshape(exact.shape).T
    image = ax.imshow(cells, origin="lower", cmap="cividis", norm=norm, interpolation="nearest")
    image.set_rasterized(True)
    last = exact.shape[0] - 1
    ticks = [0, last // 2, last]
    ax.set(xticks=ticks, yticks=ticks, xlabel="first coordinate", ylabel="second coordinate")


KINDS = {"heat_map": PanelKind(draw_heat_map, optional=("row",), colour_label="probability of a cell")}
