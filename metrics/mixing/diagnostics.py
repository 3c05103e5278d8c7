"""Effective sample size and R-hat over all chains of a seed (Vehtari et al. 2021, computed by ArviZ).

Computed from thinned series (`metrics.statistics.thinned_series`), so an effective sample size is limited by
the number of stored values. A high one alone does not prove mixing: a chain stuck in one mode also has one.
Compare `rhat_mode`. R-hat is 1 if the chains of a seed agree; values above 1.01 show that they do not.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from metrics.metric import Context, Metric
from metrics.requirements import require_modes
from metrics.statistics.order_parameter_series import OrderParameterSeries
from metrics.statistics.thinned_series import ChainSeries, LogProbSeries, ModeSeries

FEWEST_DRAWS = 4


def effective_sample_size(series: NDArray[Any]) -> float:
    """Bulk effective sample size of a series ``(chains, draws)``.

    0 if every chain is constant, whether or not they agree; 0 also for fewer than 4 draws or if a value is
    NaN, where the estimate is undefined.
    """
    series = np.asarray(series, dtype=np.float64)
    if series.shape[1] < FEWEST_DRAWS or np.isnan(series).any() or _constant(series):
        return 0.0
    from arviz_stats.base import array_stats

    # Of two values the ranks are an affine function, so rank normalisation does not change the estimate.
    method = "mean" if _two_valued(series) else "bulk"
    with np.errstate(all="ignore"):
        return float(array_stats.ess(series, chain_axis=0, draw_axis=1, method=method))


def potential_scale_reduction(series: NDArray[Any]) -> float:
    """Rank-normalised, split and folded R-hat of a series ``(chains, draws)``; one chain is split in two.

    Infinite if every half of every chain is constant, whether the chains are stuck at different values or
    never moved. Infinite also for fewer than 4 draws or if a value is NaN.
    """
    series = np.asarray(series, dtype=np.float64)
    if len(series) == 1:
        series = np.concatenate(_halves(series))
    if series.shape[1] < FEWEST_DRAWS or np.isnan(series).any() or all(map(_constant, _halves(series))):
        return float("inf")
    from arviz_stats.base import array_stats

    # For two values the rank-normalised and the folded form both equal the split form.
    method = "split" if _two_valued(series) else "rank"
    with np.errstate(all="ignore"):
        return float(array_stats.rhat(series, chain_axis=0, draw_axis=1, method=method))


def _halves(series: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    half = series.shape[1] // 2
    return series[:, :half], series[:, series.shape[1] - half :]


def _constant(series: NDArray[Any]) -> bool:
    """Whether no chain moves."""
    return bool((series == series[:, :1]).all())


def _two_valued(series: NDArray[Any]) -> bool:
    low, high = series.min(), series.max()
    return bool(((series == low) | (series == high)).all())


class _Diagnostic(Metric):
    """A number of each seed's series ``(chains, draws)`` of U(theta)."""

    statistic: ClassVar[type[ChainSeries]] = LogProbSeries

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.series = context.statistic(self.statistic)

    @abstractmethod
    def measure(self, series: NDArray[Any]) -> float:
        """The number of one seed."""

    def result(self) -> dict[str, Tensor]:
        rows = self.series.rows
        series = np.ascontiguousarray(rows.permute(1, 2, 0).cpu().numpy())
        values = [self.measure(of_seed) for of_seed in series]
        return {self.name: torch.tensor(values, dtype=torch.float64, device=rows.device)}


class _ModeDiagnostic(_Diagnostic):
    """The same of the labels of the modes."""

    statistic = ModeSeries

    def __init__(self, context: Context) -> None:
        self.modes = range(len(require_modes(self.name, context, minimum=2).modes))
        super().__init__(context)


class ESS(_Diagnostic):
    """Bulk effective sample size of U(theta), over all chains of a seed."""

    name = "ess"
    unit = "draws"
    bounds = (0.0, math.inf)
    direction = "max"

    def measure(self, series: NDArray[Any]) -> float:
        return effective_sample_size(series)


class ESSMagnetisation(ESS):
    """Bulk effective sample size of the order parameter, over all chains of a seed.

    In an Ising model that is the signed magnetisation, which mixes only where its sign changes.

    Raises:
        UnsupportedMetric: if the target has no order parameter.
    """

    name = "ess_magnetisation"
    statistic = OrderParameterSeries


class ESSMode(_ModeDiagnostic):
    """Effective sample size of the indicator of a mode, minimum over modes; 0 if a mode was never visited.

    Raises:
        UnsupportedMetric: if the target has fewer than two known modes.
    """

    name = "ess_mode"
    unit = "draws"
    bounds = (0.0, math.inf)
    direction = "max"

    def measure(self, series: NDArray[Any]) -> float:
        labels = [series == mode for mode in self.modes]
        return 0.0 if any(map(_constant, labels)) else min(map(effective_sample_size, labels))


class RHat(_Diagnostic):
    """R-hat (rank-normalised, split and folded) of U(theta), over all chains of a seed."""

    name = "rhat"
    unit = "ratio"
    bounds = (0.0, math.inf)
    direction = "min"

    def measure(self, series: NDArray[Any]) -> float:
        return potential_scale_reduction(series)


class RHatMode(_ModeDiagnostic):
    """R-hat of the indicator of a mode, maximum over modes; infinite if a mode was never visited.

    Raises:
        UnsupportedMetric: if the target has fewer than two known modes.
    """

    name = "rhat_mode"
    unit = "ratio"
    bounds = (0.0, math.inf)
    direction = "min"

    def measure(self, series: NDArray[Any]) -> float:
        labels = [series == mode for mode in self.modes]
        stuck = any(all(map(_constant, _halves(label))) for label in labels)
        return math.inf if stuck else max(map(potential_scale_reduction, labels))
