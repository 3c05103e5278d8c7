"""Panel `heat_map`: the share of draws in each cell of a two-dimensional grid, or the target's own law."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from omegaconf import DictConfig

from runner.problem.build import build_target
from runner.report.figures.panel import PanelData, nothing_in
from runner.report.stored_results import Run
from runner.store.visit_files import load_visits
from targets.spaces import Discrete
from targets.target import Enumerable

COLOUR_LABEL = "probability of a cell"


def target_law(config: DictConfig) -> np.ndarray:
    """Exact probabilities of the run's target on its grid, shape ``(levels, levels)``."""
    target = build_target(config)
    assert isinstance(target, Enumerable)
    assert isinstance(target.space, Discrete)
    levels = target.space.levels
    law: np.ndarray = target.probabilities().reshape(levels, levels).cpu().numpy()
    return law


def visited(runs: list[Run], levels: int) -> np.ndarray | None:
    """Share of all recorded draws in each cell, pooled over seeds; None where no run kept its visits."""
    total = np.zeros(levels * levels)
    for run in runs:
        counts = load_visits(run.folder.path) if run.summary is not None else None
        if counts is not None:
            total += counts
    return (total / total.sum()).reshape(levels, levels) if total.any() else None


def draw(ax: Axes, data: PanelData) -> None:
    """Draws one grid; all panels of a column share the colours of the target's law."""
    (column,) = data.panel.columns
    runs = [run for run in data.results.runs if run.column == column]
    ax.grid(False)
    ax.set_aspect("equal")
    if not runs:
        nothing_in(ax)
        return
    law = target_law(runs[0].config)
    share = law
    if data.panel.row is not None:
        pooled = visited(data.results.at(data.panel.row, column), law.shape[0])
        if pooled is None:
            nothing_in(ax, "no visits kept")
            ax.set(xticks=[], yticks=[])
            return
        share = pooled
    norm = PowerNorm(0.5, vmin=0.0, vmax=float(law.max()))
    image = ax.imshow(share.T, origin="lower", cmap="cividis", norm=norm, interpolation="nearest")
    image.set_rasterized(True)
    last = law.shape[0] - 1
    ax.set_xticks([0, last // 2, last])
    ax.set_yticks([0, last // 2, last])
    ax.set_xlabel("first coordinate")
    ax.set_ylabel("second coordinate")
