"""Charts that tell whether chains agree: the log density along them, its ranks, its autocorrelation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runner.report.figures.sampler_looks import IN_TURN
from runner.store.arrays.series_file import StoredSeries

BINS = 16
LEAST = 2 * BINS
"""Points of a chain from which on ranks and autocorrelations are drawn."""

LAGS = 0.25
"""Share of the points up to which autocorrelations are drawn: later ones are noise."""

PATH_POINTS = 128
"""Points of a path that are drawn at most: paths are the largest part of a run's page."""


def diagnostics_chart(series: StoredSeries | None) -> dict[str, Any] | None:
    """One plot each of paths, ranks and autocorrelations, a line a chain; None where nothing was stored.

    Chains that do not vary, or are shorter than `LEAST`, have their paths alone.
    """
    if series is None or not np.isfinite(series.log_prob).all() or len(series.steps) < 2:
        return None
    u, apart = series.log_prob.astype(np.float64), int(series.steps[1] - series.steps[0])
    every = math.ceil(len(u) / PATH_POINTS)
    path = (float(series.steps[0]), float(every * apart))
    plots = [_plot("log density along the chains", "steps", "U (nats)", path, u[::every].T)]
    if len(u) >= LEAST and np.ptp(u, axis=0).min() > 0.0:
        shares = rank_shares(u)
        titles = (
            "rank of the log density among all chains",
            "share of the chain's points, 1 where chains agree",
        )
        plots.append(_plot("ranks", *titles, (0.5 / BINS, 1 / BINS), shares.T, shape="hvh"))
        found = autocorrelations(u)
        plots.append(
            _plot("autocorrelation", "steps apart", "autocorrelation of U", (0.0, float(apart)), found.T)
        )
    return {"plots": plots}


def rank_shares(u: np.ndarray) -> np.ndarray:
    """How much of a chain lies in each part of the ranks of all chains together, 1 where it is even.

    The rank plot of Vehtari et al. (2021), section 4.5. Ties share their mean rank.

    Args:
        u: ``(points, chains)``.

    Returns:
        ``(BINS, chains)``.
    """
    flat = u.ravel()
    _, inverse, counts = np.unique(flat, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2 - 0.5)[inverse.reshape(-1)].reshape(u.shape) / flat.size
    places = np.minimum((ranks * BINS).astype(int), BINS - 1)
    number = [np.bincount(places[:, chain], minlength=BINS) for chain in range(u.shape[1])]
    return np.stack(number, axis=1) * BINS / len(u)


def autocorrelations(u: np.ndarray) -> np.ndarray:
    """The autocorrelation of each chain at the first lags, ``(lags, chains)``, 1 at lag 0."""
    points = len(u)
    centred = u - u.mean(axis=0)
    spectrum = np.abs(np.fft.rfft(centred, n=2 * points, axis=0)) ** 2
    covariances = np.fft.irfft(spectrum, axis=0)[: max(2, int(LAGS * points))]
    found: np.ndarray = covariances / covariances[0]
    return found


def _plot(
    name: str, across: str, up: str, x: tuple[float, float], lines: np.ndarray, shape: str = "linear"
) -> dict[str, Any]:
    """A line a chain, ``(chains, points)``; `x` is the first place and the distance to the next."""
    traces = [
        {
            "type": "scatter", "mode": "lines", "name": f"chain {chain}", "meta": f"chain {chain}",
            "legendgroup": f"chain {chain}", "x0": x[0], "dx": x[1],
            "y": [float(f"{value:.5g}") for value in values],
            "line": {"color": IN_TURN[chain % len(IN_TURN)], "width": 1.5, "shape": shape},
            "hovertemplate": "%{meta}<br>%{x:.5g}: %{y:.5g}<extra></extra>",
        }
        for chain, values in enumerate(lines)
    ]  # fmt: skip
    layout = {"xaxis": {"title": {"text": across}}, "yaxis": {"title": {"text": up}}}
    return {"name": name, "traces": traces, "layout": layout}
