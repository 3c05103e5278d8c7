"""Normal scores of the half chains of a series, of which ESS and R-hat are functions (Vehtari et al. 2021).

A value's score is the normal quantile of its rank. Ranks are counted for the distinct values: 100,000 draws
on a grid have a few hundred log densities, and quantiles cost more than the rest of ESS and R-hat.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

BLOM = 3 / 8
"""The fractional offset of ranks (Blom 1958)."""


class RankedChains:
    """The series ``(chains, draws)`` of a seed without NaN, ranked when first asked.

    Attributes:
        series: the values.
    """

    def __init__(self, series: NDArray[Any]) -> None:
        self.series = np.asarray(series)

    @cached_property
    def _ranked(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Distinct values, ascending, the place of each draw of a half chain among them, and their counts."""
        parts = np.concatenate(halves(self.series))
        distinct, place, counts = np.unique(parts, return_inverse=True, return_counts=True)
        return distinct.astype(np.float64), place.reshape(parts.shape), counts

    def scores(self) -> NDArray[Any]:
        """Normal scores of the half chains, ``(2 chains, draws // 2)``."""
        _, place, counts = self._ranked
        found: NDArray[Any] = _scores(counts)[place]
        return found

    def folded_scores(self) -> NDArray[Any]:
        """The same of the distances from the median; NaN where the median is infinite."""
        distinct, place, counts = self._ranked
        last = np.cumsum(counts)
        low, high = np.searchsorted(last, [(last[-1] - 1) // 2, last[-1] // 2], side="right")
        centre = (distinct[low] + distinct[high]) / 2
        if not np.isfinite(centre):
            return np.full(place.shape, np.nan)
        _, where = np.unique(np.abs(distinct - centre), return_inverse=True)
        merged = np.bincount(where.ravel(), weights=counts)
        found: NDArray[Any] = _scores(merged)[where.ravel()][place]
        return found


def halves(series: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first and the last half of the draws of each chain; a draw in the middle is in neither."""
    half = series.shape[1] // 2
    return series[:, :half], series[:, series.shape[1] - half :]


def chains_by_seed(rows: Tensor) -> list[RankedChains]:
    """The series of each seed, from all rows ``(rows, seeds, chains)``."""
    return [RankedChains(series) for series in np.ascontiguousarray(rows.permute(1, 2, 0).cpu().numpy())]


def _scores(counts: NDArray[Any]) -> NDArray[Any]:
    """Normal scores of distinct values, ascending, that came so often."""
    last = np.cumsum(counts)
    rank = last - (counts - 1) / 2
    quantile = (rank - BLOM) / (last[-1] - 2 * BLOM + 1)
    found: NDArray[Any] = torch.special.ndtri(torch.from_numpy(quantile)).numpy()
    return found
