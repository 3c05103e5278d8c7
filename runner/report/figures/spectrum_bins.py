"""Shares of the eigenvalues of Hessians in bins."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from metrics.inference.few_seeds import Interval, interval

BINS = 24


def edges(eigenvalues: np.ndarray) -> np.ndarray:
    """The ends of `BINS` bins that hold all `eigenvalues`, even about zero, ``(BINS + 1,)``."""
    end = float(np.ceil(np.abs(eigenvalues).max()))
    return np.linspace(-end, end, BINS + 1)


def binned(eigenvalues: np.ndarray, share: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Share of all eigenvalues ``(size, d)`` in each bin, where state i is seen with `share` ``(size,)``."""
    weights = np.repeat(share / eigenvalues.shape[1], eigenvalues.shape[1])
    heights: np.ndarray = np.histogram(eigenvalues.flatten(), bins=ends, weights=weights)[0]
    return heights


def spectrum_intervals(
    eigenvalues: np.ndarray, shares: Iterable[np.ndarray], ends: np.ndarray
) -> list[Interval]:
    """Mean and 95 % interval over seeds of what is in each bin, by the `shares` ``(size,)`` of each seed."""
    heights = np.stack([binned(eigenvalues, share, ends) for share in shares])
    return [span for values in heights.T if (span := interval(list(values))) is not None]
