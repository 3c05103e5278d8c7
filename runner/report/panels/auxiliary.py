"""Panel `auxiliary`: the density of theta_a of a row's entropic sampler, a layer for each column."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from omegaconf import OmegaConf

from runner.report.figures.auxiliary_shares import (
    FINE,
    auxiliary_shares,
    colours,
    coordinate_values,
    mixture_density,
)
from runner.report.figures.panel import PanelData, PanelKind, show_missing

DOT = 2.6
INK = "#1A1A1A"


def draw_auxiliary(ax: Axes, data: PanelData) -> None:
    """Dots: the share of theta_a in each bin over its width, mean over seeds. Lines: the exact density."""
    exact, ends = None, []
    for label, colour in zip(data.panel.columns, colours(len(data.panel.columns)), strict=True):
        edges, spans = auxiliary_shares(data, label)
        if not spans:
            continue
        heights = np.array([span.mean for span in spans]) / np.diff(edges)
        middles = (edges[1:] + edges[:-1]) / 2
        ax.plot(middles, heights, ".", color=colour, markersize=DOT, zorder=3, label=label)
        config = data.results.at(data.row, label)[0].config
        values, weights = coordinate_values(config)
        if values:
            places = np.linspace(edges[0], edges[-1], FINE)
            density = mixture_density(places, values, weights, float(OmegaConf.select(config, "sampler.eta")))
            (exact,) = ax.plot(places, density, color=INK, linewidth=0.6, zorder=4)
        ends += [edges[0], edges[-1]]
    if not ends:
        runs = [run for label in data.panel.columns for run in data.results.at(data.row, label)]
        show_missing(ax, runs, "distribution of theta_a")
        return
    if exact is not None:
        exact.set_label("line: exact")
    ax.set_xlim(min(ends), max(ends))
    ax.set_ylim(0.0, data.panel.limits[1] if data.panel.limits else None)
    ax.set(xlabel="θₐ", ylabel="density p(θₐ)")
    ax.legend(
        loc="upper right", frameon=False, fontsize=6.5, markerscale=2.5, handlelength=1.2,
        title="dots: measured", title_fontsize=6.5,
    )  # fmt: skip


KINDS = {"auxiliary": PanelKind(draw_auxiliary, required=("row",), optional=("limits",), one_column=False)}
