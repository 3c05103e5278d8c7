"""Integrated autocorrelation times: the automatic window of Sokal, and of series that go to and fro Geyer's.

The partial sums of the correlations of a series that goes to and fro swing through zero, so that a window
that is measured by them ends anywhere. Sums of pairs of lags do not swing (Geyer 1992, section 3.3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from metrics.mixing.autocovariance import mean_autocovariance
from metrics.mixing.diagnostics import _Diagnostic
from metrics.mixing.geyer import initial_sequence
from metrics.mixing.ranked_chains import RankedChains, chains_by_seed
from metrics.statistics.order_parameter_series import OrderParameterSeries

WINDOW = 5.0
"""The window is the first lag that is at least so many autocorrelation times."""

TINY = 1e-9
"""Sums of autocorrelations below this are zero but for rounding."""

TO_AND_FRO, CHANCE = 0.25, 3.0
"""A series goes to and fro where rho_1 is below -0.25, or below 0 by three standard errors of white noise."""

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
    the series is constant or NaN, or so short that the sum is not positive.

    Where the series goes to and fro (`TO_AND_FRO`), M is the lag that ends Geyer's initial monotone sequence,
    and the error is that of the sum of all correlations below M, for the spectrum that they have.

    Source: Sokal (1997), section 3, Eqs. 3.16 to 3.19; Madras and Sokal (1988), appendix C; Geyer (1992),
    section 3.3; Priestley (1981), section 6.2, for the variance of a windowed spectrum.
    """
    series = np.asarray(series, dtype=np.float64)
    if not np.isfinite(series).all() or (series == series.flat[0]).all():
        return math.inf, series.shape[1], math.inf
    rho = autocorrelations(series)
    if len(rho) > 1 and rho[1] < -min(TO_AND_FRO, CHANCE / math.sqrt(series.size)):
        time, window = initial_sequence(rho)
        ended = window < 2 * ((len(rho) - 3) // 2)
        error = _windowed_error(rho[:window]) / math.sqrt(series.size) if ended else math.inf
    else:
        times = 2.0 * np.cumsum(rho) - 1.0
        wide = (np.arange(len(times)) >= WINDOW * times) & (times > 0)
        window = int(wide.argmax()) if wide.any() else len(times) - 1
        time = float(times[window])
        error = time * math.sqrt((4 * window + 2) / series.size) if wide.any() else math.inf
    if time < TINY:
        return math.inf, series.shape[1], math.inf
    return time, window, error


def _windowed_error(rho: NDArray[np.float64]) -> float:
    """Standard error of 1 + 2 sum of `rho`, times the root of the number of draws.

    The window lets through some of the spectrum at other frequencies than 0, which is most of it where the
    series goes to and fro. So the variance is the mean of 2 (window x spectrum)^2 over all frequencies.
    """
    lags = len(rho)
    power, window = (np.fft.hfft(part, 4 * lags) for part in (rho, np.ones(lags)))
    return math.sqrt(2.0 * float(np.square(power * (window - power[0])).mean()))


class AutocorrelationTime(_Diagnostic):
    """Integrated autocorrelation time of U(theta): the number of steps that are worth one independent draw.

    Of long runs every second, fourth, .. step is kept (2,048 steps at most, 131,072 values a seed). A time of
    fewer than three kept steps is an upper bound then, and its error is infinite. All values are NaN then
    where the kept steps would look frozen: successive ones have a correlation below -0.1, or the chains turn
    round between two kept ones (`ChainSeries.to_and_fro`, which says what it does not see).
    ``task.series`` (in Python `Context.series_steps`) has more of them kept.

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
        values = values.masked_fill(self.series.to_and_fro.unsqueeze(-1), math.nan)
        names = (self.name, self.name.replace("_time", "_window"), f"{self.name}_error")
        return dict(zip(names, values.unbind(-1), strict=True))


class AutocorrelationTimeMagnetisation(AutocorrelationTime):
    """Integrated autocorrelation time of the order parameter, in steps, with its error and window.

    Raises:
        UnsupportedMetric: if the target has no order parameter.
    """

    name = "autocorrelation_time_magnetisation"
    statistic = OrderParameterSeries
