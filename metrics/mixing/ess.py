"""Effective sample size (Vehtari et al. 2021, computed by ArviZ), over all chains of a seed.

Computed from thinned series (`metrics.statistics.thinned_series`), so it is limited by the number of stored
values. A high value alone does not prove mixing: a chain stuck in one mode also has one. Compare `rhat_mode`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from metrics.metric import Context, Metric
from metrics.requirements import require_modes
from metrics.statistics.thinned_series import LogProbSeries, ModeSeries

FEWEST_DRAWS = 4


def effective_sample_size(series: NDArray[Any]) -> float:
    """Bulk effective sample size of a series ``(chains, draws)``.

    0 if every chain is constant, whether or not they agree; 0 also for fewer than 4 draws or if a value is
    NaN, where the estimate is undefined.
    """
    series = np.asarray(series, dtype=np.float64)
    if series.shape[1] < FEWEST_DRAWS or np.isnan(series).any() or _all_constant(series):
        return 0.0
    from arviz_stats.base import array_stats

    # Of two values the ranks are an affine function, so rank normalisation does not change the estimate.
    method = "mean" if _two_valued(series) else "bulk"
    with np.errstate(all="ignore"):
        return float(array_stats.ess(series, chain_axis=0, draw_axis=1, method=method))


def worst_over_modes(
    labels: NDArray[Any], modes: int, measure: Callable[[NDArray[Any]], float], worst: Callable[..., float]
) -> float:
    """`worst` of `measure` over the indicator series of each mode; `labels` ``(chains, draws)``."""
    return worst(measure(labels == mode) for mode in range(modes))


def each_seed(rows: Tensor, measure: Callable[[NDArray[Any]], float]) -> Tensor:
    """`measure` of each seed's series ``(chains, draws)``: ``(draws, seeds, chains)`` to ``(seeds,)``."""
    series = np.ascontiguousarray(rows.permute(1, 2, 0).cpu().numpy())
    return torch.tensor([measure(of_seed) for of_seed in series], dtype=torch.float64, device=rows.device)


def _all_constant(series: NDArray[Any]) -> bool:
    return bool((series == series[:, :1]).all())


def _two_valued(series: NDArray[Any]) -> bool:
    low, high = series.min(), series.max()
    return bool(((series == low) | (series == high)).all())


class ESS(Metric):
    """Bulk effective sample size of U(theta), over all chains of a seed."""

    name = "ess"
    unit = "draws"
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.series = context.statistic(LogProbSeries)

    def result(self) -> dict[str, Tensor]:
        return {self.name: each_seed(self.series.rows, effective_sample_size)}


class ESSMode(Metric):
    """Effective sample size of the indicator of a mode, minimum over modes; 0 if a mode was never visited.

    Raises:
        UnsupportedMetric: if the target has fewer than two known modes.
    """

    name = "ess_mode"
    unit = "draws"
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        require_modes(self.name, context, minimum=2)
        self.series = context.statistic(ModeSeries)

    def result(self) -> dict[str, Tensor]:
        def least(labels: NDArray[Any]) -> float:
            return worst_over_modes(labels, self.series.modes, effective_sample_size, min)

        return {self.name: each_seed(self.series.rows, least)}
