"""Panels `auxiliary`: the density of theta_a of an entropic sampler, a layer for each column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from omegaconf import OmegaConf

from runner.report.figures.auxiliary_shares import FINE, auxiliary_shares, colours, mixture_density
from runner.report.figures.panel import PanelData
from runner.site.content.charts import HOVER, said_of
from runner.site.content.panels.known import Known
from runner.site.content.panels.marks import Plot, Trace


def auxiliary(panels: Sequence[PanelData], known: Known) -> Plot | None:
    """The share of theta_a in each bin over its width, for each column, and the exact density where known."""
    (data,) = panels
    traces: list[Trace] = []
    for label, colour in zip(data.panel.columns, colours(len(data.panel.columns)), strict=True):
        edges, spans = auxiliary_shares(data, label)
        if not spans:
            continue
        width = float(edges[1] - edges[0])
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": label, "meta": label, "legendgroup": label,
                "x": ((edges[1:] + edges[:-1]) / 2).tolist(), "y": [span.mean / width for span in spans],
                "marker": {"color": colour, "symbol": "circle", "size": 5},
                "customdata": [
                    said_of(_over(span.lo, width), _over(span.hi, width), span.n) for span in spans
                ],
                "hovertemplate": HOVER,
            }
        )  # fmt: skip
        config = data.results.at(data.row, label)[0].config
        values, weights = known.coordinates(config)
        if values:
            places = np.linspace(edges[0], edges[-1], FINE)
            density = mixture_density(places, values, weights, float(OmegaConf.select(config, "sampler.eta")))
            traces.append(
                {
                    "type": "scatter", "mode": "lines", "name": f"exact, {label}", "legendgroup": label,
                    "showlegend": False, "x": places.tolist(), "y": density.tolist(), "line": {"width": 1},
                    "ink": True, "hovertemplate": f"exact, {label}<br>%{{x:.3g}}: %{{y:.4g}}<extra></extra>",
                }
            )  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": "theta_a"}},
        "yaxis": {"title": {"text": "density of theta_a"}, "rangemode": "tozero"},
    }
    plot = {
        "name": "density of theta_a",
        "column": data.panel.title,
        "traces": traces,
        "layout": layout,
        "log": "y",
    }
    return plot if traces else None


def _over(end: float | None, width: float) -> float | None:
    return None if end is None else end / width
