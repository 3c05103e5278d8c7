"""The stored paths of a run's chains as charts: U along the chains, their ranks, their autocorrelation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runner.store.series_file import StoredSeries

FEWEST = 8
"""Points below which nothing is drawn."""

CHAINS, POINTS = 4, 128
"""Of the path itself: it is the largest part of a page."""

BINS, LAGS = 20, 50
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933")


def paths_chart(series: StoredSeries) -> dict[str, Any] | None:
    """Rank plot (Vehtari et al. 2021), autocorrelation and path of U along the stored chains.

    None for fewer than `FEWEST` points, or where U is not finite.
    """
    from arviz_stats.base import array_stats
    from scipy.stats import rankdata

    values = series.log_prob.T.astype(np.float64)  # (chains, points)
    if values.shape[1] < FEWEST or not np.isfinite(values).all():
        return None
    apart = int(series.steps[1] - series.steps[0])
    ranks = rankdata(values).reshape(values.shape)  # equal values have equal ranks in all chains
    edges = np.linspace(0, ranks.max() + 1, BINS + 1)
    counts = np.array([np.histogram(of_chain, edges)[0] for of_chain in ranks])
    with np.errstate(all="ignore"):  # a chain that never moves has no autocorrelation
        lagged = array_stats.autocorr(values, axis=-1)[:, : LAGS + 1]
    middles = ((edges[:-1] + edges[1:]) / 2 / edges[-1]).tolist()
    lags = [apart * lag for lag in range(lagged.shape[1])]
    every = math.ceil(values.shape[1] / POINTS)
    return {
        "plots": [
            _plot("ranks of U: level and alike where the chains agree", "rank among all chains, as a share",
                  "draws", middles, counts, line={"shape": "hvh"}),
            _plot("autocorrelation of U", "steps apart", "autocorrelation", lags, lagged),
            _plot("U along the chains", "step", "U (nats)", series.steps[::every].tolist(),
                  values[:CHAINS, ::every]),
        ]
    }  # fmt: skip


def _plot(
    name: str, across: str, up: str, x: list[Any], lines: np.ndarray, line: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A line for each chain, ``(chains, points)``."""
    traces = [
        {
            "type": "scatter", "mode": "lines", "name": f"chain {chain + 1}", "meta": f"chain {chain + 1}",
            "x": x, "y": [_short(value) for value in of_chain],
            "line": {"color": COLOURS[chain], "width": 1.2, **(line or {})},
            "hovertemplate": "%{meta}<br>%{x}: %{y:.5g}<extra></extra>",
        }
        for chain, of_chain in enumerate(lines)
    ]  # fmt: skip
    layout = {"xaxis": {"title": {"text": across}}, "yaxis": {"title": {"text": up}}}
    return {"name": name, "traces": traces, "layout": layout}


def _short(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None
