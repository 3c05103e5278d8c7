"""Potential scale reduction R-hat (rank-normalised, split and folded; Vehtari et al. 2021), by ArviZ.

1 if the chains of a seed agree; values above 1.01 show that they do not. Computed from thinned series.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from metrics.metric import Context, Metric
from metrics.mixing.ess import FEWEST_DRAWS, each_seed, worst_over_modes
from metrics.requirements import require_modes
from metrics.statistics.thinned_series import LogProbSeries, ModeSeries


def potential_scale_reduction(series: NDArray[Any]) -> float:
    """R-hat of a series ``(chains, draws)``; a single chain is split in two.

    Infinite if every half of every chain is constant, whether the chains are stuck at different values or
    never moved. Infinite also for fewer than 4 draws or if a value is NaN.
    """
    series = np.asarray(series, dtype=np.float64)
    if len(series) == 1:
        half = series.shape[1] // 2
        series = np.concatenate([series[:, :half], series[:, series.shape[1] - half :]])
    if series.shape[1] < FEWEST_DRAWS or np.isnan(series).any() or _halves_constant(series):
        return float("inf")
    from arviz_stats.base import array_stats

    # For two values the rank-normalised and the folded form both equal the split form.
    method = "split" if len(np.unique(series)) == 2 else "rank"
    with np.errstate(all="ignore"):
        return float(array_stats.rhat(series, chain_axis=0, draw_axis=1, method=method))


def _halves_constant(series: NDArray[Any]) -> bool:
    half = series.shape[1] // 2
    halves = series[:, :half], series[:, series.shape[1] - half :]
    return all(bool((part == part[:, :1]).all()) for part in halves)


class RHat(Metric):
    """R-hat of U(theta), over all chains of a seed."""

    name = "rhat"
    unit = "ratio"
    direction = "min"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.series = context.statistic(LogProbSeries)

    def result(self) -> dict[str, Tensor]:
        return {self.name: each_seed(self.series.rows, potential_scale_reduction)}


class RHatMode(Metric):
    """R-hat of the indicator of a mode, maximum over modes; infinite if a mode was never visited.

    Raises:
        UnsupportedMetric: if the target has fewer than two known modes.
    """

    name = "rhat_mode"
    unit = "ratio"
    direction = "min"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        require_modes(self.name, context, minimum=2)
        self.series = context.statistic(ModeSeries)

    def result(self) -> dict[str, Tensor]:
        def largest(labels: NDArray[Any]) -> float:
            return worst_over_modes(labels, self.series.modes, potential_scale_reduction, max)

        return {self.name: each_seed(self.series.rows, largest)}
