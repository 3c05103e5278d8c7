"""Effective sample size and R-hat of Vehtari et al. (2021), as ArviZ computes them, to the last bit.

ArviZ averages the autocovariances of the chains lag by lag in Python, which was a quarter of the time of a
table of mixtures, and takes half a second to import. A test compares both on series of all kinds.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]
"""Draws of several chains, ``(chains, draws)``."""

BLOM = 3 / 8
"""Ranks r of n values stand for the quantiles (r - 3/8) / (n + 1/4) of a normal distribution."""


def halves(series: Series) -> Series:
    """Both halves of every chain as chains of their own, ``(2 chains, draws // 2)``."""
    half = series.shape[1] // 2
    return np.vstack((series[:, :half], series[:, series.shape[1] - half :]))


def normal_scores(series: Series) -> Series:
    """The normal quantiles of the ranks of all values; equal values share their mean rank."""
    from scipy.special import ndtri  # takes a tenth of a second to import

    values = series.ravel()
    order = np.argsort(values)
    ordered = values[order]
    firsts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ends = np.append(firsts[1:], values.size)
    ranks = np.empty(values.size)
    ranks[order] = np.repeat(0.5 * (firsts + ends + 1), ends - firsts)
    scores: Series = ndtri((ranks - BLOM) / (values.size - 2 * BLOM + 1)).reshape(series.shape)
    return scores


def effective_size(series: Series) -> float:
    """Effective number of draws of the mean, from the autocorrelations over all chains.

    They are summed up to Geyer's initial monotone sequence.
    """
    if np.max(series) - np.min(series) < np.finfo(float).resolution:
        return float(series.size)
    chains, draws = series.shape
    # A row for each lag: along a row, the mean adds up in the order in which it does for that lag alone.
    covariance = np.ascontiguousarray(_autocovariance(series).T).mean(1)
    within = covariance[0] * draws / (draws - 1.0)
    total = within * (draws - 1.0) / draws
    if chains > 1:
        total += np.var(series.mean(1), ddof=1)
    rho: list[float] = (1.0 - (within - covariance) / total).tolist()
    kept = np.zeros(draws)
    kept[0], kept[1] = even, odd = 1.0, rho[1]
    lag = 1
    while lag < draws - 3 and even + odd > 0.0:
        even, odd = rho[lag + 1], rho[lag + 2]
        if even + odd >= 0:
            kept[lag + 1], kept[lag + 2] = even, odd
        lag += 2
    last = lag - 2
    if even > 0:
        kept[last + 1] = even
    _make_monotone(kept, last)
    if np.isnan(kept).any():
        return float("nan")
    time = -1.0 + 2.0 * np.sum(kept[: last + 1]) + np.sum(kept[last + 1 : last + 2])
    return float(chains * draws / max(time, 1 / np.log10(chains * draws)))


def scale_reduction(series: Series) -> float:
    """R-hat of the chains as they are: how much wider all draws are than those of one chain."""
    draws = series.shape[1]
    between = draws * np.var(series.mean(1), ddof=1)
    within = np.mean(np.var(series, axis=1, ddof=1))
    return float(np.sqrt((between / within + draws - 1) / draws))


def rank_scale_reduction(series: Series) -> float:
    """R-hat of the halves of the chains, by ranks: the larger one of the values' and of their distances'.

    Distances are from the median.
    """
    split = halves(series)
    folded = abs(split - np.median(split))
    return max(scale_reduction(normal_scores(split)), scale_reduction(normal_scores(folded)))


def _make_monotone(kept: NDArray[Any], last: int) -> None:
    """Makes no pair of autocorrelations larger than the pair before it."""
    for lag in range(1, last - 1, 2):
        if kept[lag + 1] + kept[lag + 2] > kept[lag - 1] + kept[lag]:
            kept[lag + 1] = kept[lag + 2] = (kept[lag - 1] + kept[lag]) / 2.0


def _autocovariance(series: Series) -> Series:
    """Of each chain at each lag, ``(chains, draws)``."""
    draws = series.shape[1]
    size = _fast_size(2 * draws)
    spectrum = np.fft.rfft(series - series.mean(1, keepdims=True), n=size, axis=1)
    spectrum *= np.conjugate(spectrum)
    found: Series = np.fft.irfft(spectrum, n=size, axis=1)[:, :draws]
    found /= draws
    return found


@functools.cache
def _fast_size(least: int) -> int:
    """The next size that a Fourier transform is fast for."""
    from scipy.fft import next_fast_len

    return int(next_fast_len(least, real=True))
