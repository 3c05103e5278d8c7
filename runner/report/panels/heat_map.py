"""Panel `heat_map`: the share of draws in each cell of a grid, or the probability of each cell."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from omegaconf import DictConfig

from runner.problem.build import build_target
from runner.report.figures.panel import PanelData, PanelKind, show_reason
from runner.report.stored_results import Run
from runner.store.array_files import load_visits
from targets.spaces import Discrete
from targets.target import Enumerable


def target_probabilities(config: DictConfig) -> np.ndarray:
    """Exact probabilities of the run's target on its grid, shape ``(levels, levels)``."""
    target = build_target(config)
    assert isinstance(target, Enumerable)
    assert isinstance(target.space, Discrete)
    levels = target.space.levels
    found: np.ndarray = target.probabilities().reshape(levels, levels).cpu().numpy()
    return found


def visited(runs: list[Run], levels: int) -> np.ndarray | None:
    """Share of all recorded draws in each cell, pooled over seeds; None where no run stored its visits."""
    total = np.zeros(levels * levels)
    for run in runs:
        counts = load_visits(run.folder.path) if run.summary is not None else None
        if counts is not None:
            total += counts
    return (total / total.sum()).reshape(levels, levels) if total.any() else None


def draw_heat_map(ax: Axes, data: PanelData) -> None:
    """Draws one grid; all panels of a column share the colours of the target's probabilities."""
    (column,) = data.panel.columns
    runs = [run for run in data.results.runs if run.column == column]
    ax.grid(False)
    ax.set_aspect("equal")
    if not runs:
        show_reason(ax)
        return
    exact = target_probabilities(runs[0].config)
    share = exact
    if data.panel.row is not None:
        pooled = visited(data.results.at(data.panel.row, column), exact.shape[0])
        if pooled is None:
            show_reason(ax, "no stored visits")
            ax.set(xticks=[], yticks=[])
            return
        share = pooled
    norm = PowerNorm(0.5, vmin=0.0, vmax=float(exact.max()))
    image = ax.imshow(share.T, origin="lower", cmap="cividis", norm=norm, interpolation="nearest")
    image.set_rasterized(True)
    last = exact.shape[0] - 1
    ax.set_xticks([0, last // 2, last])
    ax.set_yticks([0, last // 2, last])
    ax.set_xlabel("first coordinate")
    ax.set_ylabel("second coordinate")


KINDS = {"heat_map": PanelKind(draw_heat_map, optional=("row",), colour_label="probability of a cell")}
