"""The distribution of theta_a in even bins, by the metric `auxiliary_density`, and the exact density."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from omegaconf import DictConfig, OmegaConf

from metrics.inference.few_seeds import Interval
from runner.report.figures.panel import PanelData

SHARE = "auxiliary_bin_"
"""The values of the metric with the share of theta_a in each bin; a number follows."""

METRIC = "metric.auxiliary_density"
FINE = 2000
"""Points of the line of the exact density."""

DARKEST, LIGHTEST = 0.05, 0.88
"""The part of the colour map that columns take: they are in order, so that their colours are too."""


def bin_edges(config: DictConfig) -> np.ndarray:
    """The ends of the bins of a run, ``(bins + 1,)``; empty where it does not have the metric."""
    options = OmegaConf.select(config, METRIC)
    return np.array([]) if options is None else np.linspace(options.low, options.high, options.bins + 1)


def auxiliary_shares(data: PanelData, column: str) -> tuple[np.ndarray, list[Interval]]:
    """The ends of the bins and the share of each over the seeds of the panel's row; empty without runs."""
    runs = data.results.at(data.row, column)
    edges = bin_edges(runs[0].config) if runs else np.array([])
    spans = [data.interval(data.row, column, f"{SHARE}{number}") for number in range(len(edges) - 1)]
    known = [span for span in spans if span is not None]
    return (edges, known) if known and len(known) == len(spans) else (np.array([]), [])


def colours(number: int) -> list[str]:
    """One colour for each column of a panel, from dark to light."""
    from matplotlib import colormaps  # takes a while, and only some pages have such a panel
    from matplotlib.colors import to_hex

    return [to_hex(colour) for colour in colormaps["plasma"](np.linspace(DARKEST, LIGHTEST, number))]


def mixture_density(
    places: np.ndarray, values: Sequence[float], weights: Sequence[float], eta: float
) -> np.ndarray:
    """The density at `places` ``(n,)`` of normal distributions of variance `eta` around `values`."""
    squares = (places[:, None] - np.asarray(values)) ** 2
    density: np.ndarray = np.exp(-squares / (2 * eta)) @ np.asarray(weights) / np.sqrt(2 * np.pi * eta)
    return density


def coordinate_values(config: DictConfig) -> tuple[list[float], list[float]]:
    """The values of the coordinates of the run's target and their probabilities; empty where not known."""
    from metrics.mixing.auxiliary_mixture import auxiliary_mixture
    from runner.problem.build import build_target  # takes torch, and only some tables have such a panel

    mixture = auxiliary_mixture(build_target(config), 1.0)
    return ([], []) if mixture is None else (mixture.values.tolist(), mixture.weights.tolist())
