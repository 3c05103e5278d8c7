"""Integrated autocorrelation times, with the automatic window of Sokal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from metrics.mixing.autocovariance import mean_autocovariance
from metrics.mixing.diagnostics import _Diagnostic
from metrics.mixing.ranked_chains import RankedChains, chains_by_seed
from metrics.statistics.order_parameter_series import OrderParameterSeries

WINDOW = 5.0
"""The window is the first lag that is at least so many autocorrelation times."""

TINY = 1e-9
"""Sums of autocorrelations below this are zero but for rounding."""

SHORT = 3.0
"""Of a thinned series: times of fewer kept draws cannot be told from shorter ones."""


def autocorrelations(series: NDArray[Any]) -> NDArray[np.float64]:
    """rho_t of a series ``(chains, draws)`` at all lags ``(draws,)``, averaged over the chains.

    Deviations are from the mean of all chains, so that chains that disagree count as slow ones. Large lags
    are biased to 0 (`mean_autocovariance`).
    """
    values = np.asarray(series, dtype=np.float64)
    covariances = mean_autocovariance(values - values.mean())
    return np.asarray(covariances / covariances[0])


def integrated_autocorrelation_time(series: NDArray[Any]) -> tuple[float, int, float]:
    """1 + 2 sum of rho_t up to a window M, the window, and the standard error; in draws of the series.

    M is the smallest lag with M >= 5 tau(M) > 0. The error is tau sqrt((4 M + 2) / n) for n draws in all. It
    is infinite where no lag is large enough, so that the run is too short. Time and error are infinite where
    the series is constant or NaN, or so short that the sum is not positive at any lag.

    Source: Sokal (1997), section 3, Eqs. 3.16 to 3.19; Madras and Sokal (1988), appendix C.
    """
    series = np.asarray(series, dtype=np.float64)
    if not np.isfinite(series).all() or (series == series.flat[0]).all():
        return math.inf, series.shape[1], math.inf
    times = 2.0 * np.cumsum(autocorrelations(series)) - 1.0
    # Of a series that goes to and fro the sums up to an odd lag may be negative.
    wide = (np.arange(len(times)) >= WINDOW * times) & (times > 0)
    window = int(wide.argmax()) if wide.any() else len(times) - 1
    time = float(times[window])
    if time < TINY:
        return math.inf, series.shape[1], math.inf
    error = time * math.sqrt((4 * window + 2) / series.size) if wide.any() else math.inf
    return time, window, error


class AutocorrelationTime(_Diagnostic):
    """Integrated autocorrelation time of U(theta): the number of steps that are worth one independent draw.

    Of long runs every second, fourth, .. step is kept (2,048 steps at most, 131,072 values a seed). A time of
    fewer than three kept steps is an upper bound then, and its error is infinite. ``task.series`` (in Python
    `Context.series_steps`) has more of them kept.

    Values, one per seed:
        autocorrelation_time: 1 + 2 sum of the autocorrelations up to the window.
        autocorrelation_time_error: its standard error; infinite if the run is too short for the window.
        autocorrelation_window: the window, 5 autocorrelation times or more.
    """

    name = "autocorrelation_time"
    unit = "steps"
    bounds = (0.0, math.inf)
    direction = "min"

    def measure(self, chains: RankedChains) -> float:
        return integrated_autocorrelation_time(chains.series)[0]

    def result(self) -> dict[str, Tensor]:
        rows = [integrated_autocorrelation_time(chains.series) for chains in self.series.made(chains_by_seed)]
        if self.series.stride > 1:
            rows = [(time, window, math.inf if time < SHORT else error) for time, window, error in rows]
        values = self.series.stride * torch.tensor(rows, dtype=torch.float64, device=self.series.rows.device)
        names = (self.name, self.name.replace("_time", "_window"), f"{self.name}_error")
        return dict(zip(names, values.unbind(-1), strict=True))


class AutocorrelationTimeMagnetisation(AutocorrelationTime):
    """Integrated autocorrelation time of the order parameter, in steps, with its error and window.

    Raises:
        UnsupportedMetric: if the target has no order parameter.
    """

    name = "autocorrelation_time_magnetisation"
    statistic = OrderParameterSeries
