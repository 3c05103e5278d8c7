"""Panel `spectrum`: the eigenvalues of the Hessian at a row's draws, as bars, over those of the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from runner.report.figures.metric_axis import SHARE
from runner.report.figures.panel import PanelData, PanelKind, show_missing
from runner.report.figures.spectrum_bins import binned, edges, spectrum_intervals
from runner.report.figures.visits import shares
from runner.report.panels.states import probabilities_of, small_binary_target
from runner.report.published import published_numbers

if TYPE_CHECKING:
    from targets import Target


def draw_spectrum(ax: Axes, data: PanelData) -> None:
    """Bars: share of eigenvalues a bin, mean over seeds, with its 95 % interval.

    The black outline is the target's own spectrum. Beside them stand the row's standard deviation and
    interquartile range with their standard deviation over seeds, and the published ones; and ``n = 1`` of a
    row of one seed.
    """
    found = shares(data.own_runs)
    if found is None:
        show_missing(ax, data.own_runs, "stored visits")
        return
    target = small_binary_target(data.own_runs[0].config)
    eigenvalues = eigenvalues_of(target)
    ends = edges(eigenvalues)
    spans = spectrum_intervals(eigenvalues, found, ends)
    exact = binned(eigenvalues, probabilities_of(target), ends)
    middles, width = (ends[1:] + ends[:-1]) / 2, ends[1] - ends[0]
    colour, mean = data.styles[data.row].colour, np.array([span.mean for span in spans])
    ax.bar(middles, mean, width=0.9 * width, color=colour, alpha=0.75, linewidth=0)
    off = np.array([SHARE.errors(span.mean, span.margin) for span in spans]).T
    seen = off.any(0)
    ax.errorbar(middles[seen], mean[seen], yerr=off[:, seen], fmt="none", ecolor="#4D4D4D", elinewidth=0.8)
    ax.stairs(exact, ends, color="#000000", linewidth=0.9)
    ax.set_xlim(ends[0], ends[-1])
    ax.set_ylim(0.0, data.panel.limits[1] if data.panel.limits else None)
    ax.set(xlabel="eigenvalue (nats)", ylabel="share of eigenvalues")
    lines = [_summary(data, f"hessian_{name.lower()}", name) for name in ("std", "IQR")]
    lines.append(data.single(len(found)) or "")
    ax.text(0.03, 0.98, "\n".join(filter(None, lines)), transform=ax.transAxes, va="top", size=6)


def eigenvalues_of(target: Target) -> np.ndarray:
    """Eigenvalues of the Hessian at each state of a target that has `hessians`, ``(size, d)``."""
    import torch

    found: np.ndarray = torch.linalg.eigvalsh(target.hessians()).cpu().numpy()  # type: ignore[operator]
    return found


def _summary(data: PanelData, metric: str, name: str) -> str:
    """Mean and standard deviation over seeds of what was measured, and what was published of it."""
    row, column = data.shape.row(data.row), data.shape.column(data.column)
    span = data.interval(data.row, data.column, metric)
    parts = []
    if span is not None:
        parts.append(f"{span.mean:.2f}" + (f" (sd {span.sd:.2f})" if span.sd is not None else ""))
    for measured in data.shape.metrics:
        for version in measured.published if measured.metric == metric else ():
            number = published_numbers(data.shape).find(version, measured, column, row)
            parts += [f"{version} {number.printed.mean}"] if number is not None else []
    return f"{name} {'; '.join(parts)}" if parts else ""


KINDS = {"spectrum": PanelKind(draw_spectrum, required=("row",), optional=("limits",), has_intervals=True)}
