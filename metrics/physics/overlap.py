"""The distribution of the overlap of two replicas: the order parameter of spin glasses."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from metrics.metric import Context, Metric
from metrics.statistics.jackknife import jackknife
from metrics.statistics.order_parameter_series import OverlapSeries

BINS = 10
"""Of |q|; there are as many of negative q."""

ROUNDING = 1e-6
"""Overlaps this small are 0: half of each counts as negative."""


class Overlap(Metric):
    """Overlap q = (1/d) sum_i s_i s'_i of pairs of independent chains.

    Values, one per seed; errors are jackknife standard errors:
        overlap, overlap_error: mean |q|.
        overlap_square, overlap_square_error: mean q^2, the susceptibility of the spin glass over d.
        overlap_binder, overlap_binder_error: (3 - <q^4> / <q^2>^2) / 2.
        overlap_bin_0 .. overlap_bin_19: P(q), shares of q from -1 to -0.9, .., from 0.9 to 1.
        overlap_asymmetry: total variation of P(q) and P(-q), in these bins. Without a field they are the
            same, so that it is 0 of chains that mix, but for noise.

    Source: Parisi (1983); Marinari, Parisi and Ruiz-Lorenzo (1998), Eqs. 4 and 9.

    Raises:
        UnsupportedMetric: if the target is not binary, or there are fewer than two chains.
    """

    name = "overlap"
    unit = "a site"
    bounds = (0.0, 1.0)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.series = context.statistic(OverlapSeries)

    def result(self) -> dict[str, Tensor]:
        rows = self.series.rows
        series = np.ascontiguousarray(rows.double().movedim(1, 0).cpu().numpy())
        found = [of_seed(part) for part in series]
        return {
            name: torch.tensor([one[name] for one in found], dtype=torch.float64, device=rows.device)
            for name in found[0]
        }


def of_seed(overlaps: NDArray[np.float64]) -> dict[str, float]:
    """The values of overlaps ``(draws, pairs)``."""
    size, square = np.abs(overlaps), overlaps**2
    shares = distribution(overlaps)
    values = {f"overlap_bin_{number}": float(share) for number, share in enumerate(shares)}
    values["overlap_asymmetry"] = float(np.abs(shares - shares[::-1]).sum() / 2)
    with np.errstate(all="ignore"):
        for name, moments, estimate in (
            ("overlap", size[None], lambda means: means[0]),
            ("overlap_square", square[None], lambda means: means[0]),
            ("overlap_binder", np.stack([square, square**2]), _binder),
        ):
            values[name], values[f"{name}_error"] = jackknife(moments, estimate)
    return values


def distribution(overlaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of the overlaps in even bins from -1 to 1, ``(2 BINS,)``; of -q they are the same, reversed.

    Overlaps at the edge of two bins are in the one that is farther from 0, also where they are rounded.
    """
    size = np.abs(overlaps).ravel()
    place = np.minimum((size * BINS + 1e-4).astype(int), BINS - 1)
    positive = np.where(size > ROUNDING, overlaps.ravel() > 0, 0.5)
    above, below = (np.bincount(place, weight, BINS) for weight in (positive, 1 - positive))
    return np.asarray(np.concatenate([below[::-1], above]) / size.size)


def _binder(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 * (3.0 - means[1] / means[0] ** 2))
