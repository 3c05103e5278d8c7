"""Eigenvalues of the Hessian of U at the visited states, pooled over all draws (EDLP, Figure 11)."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from metrics.metric import Context, by_seed
from metrics.requirements import require_members
from metrics.statistics.visit_histogram import FrequencyMetric
from targets.target import HasHessians


class HessianSpectrum(FrequencyMetric):
    """Spread of the d eigenvalues at every draw; small if the draws are flat states.

    It is a function of the visit frequencies, so every exact sampler converges to the target's own values. N
    draws have d N eigenvalues.

    Values, one per seed:
        hessian_std: population standard deviation of the pooled eigenvalues, in nats.
        hessian_iqr: their 75th minus their 25th percentile (linear between order statistics, as in NumPy),
            in nats. It takes few distinct values, since few states have most of the mass.
        hessian_std_exact, hessian_iqr_exact: the same under the target, with percentiles of its distribution
            function.

    Raises:
        UnsupportedMetric: if the target's states cannot be listed, or it has no `hessians`.
    """

    name = "hessian_spectrum"
    unit = "nats"
    direction = None

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        known = require_members(self.name, context, ("hessians",), "with known Hessians; {} has none")
        hessians = cast(HasHessians, known).hessians().to(context.device).double()
        self.eigenvalues, order = torch.linalg.eigvalsh(hessians).flatten().sort()
        self.state_of = order // hessians.shape[-1]
        self.pi = self.probabilities[self.state_of] / hessians.shape[-1]

    def result(self) -> dict[str, Tensor]:
        counts = self.visits.counts[:, self.state_of]
        seeds, exact_iqr = len(counts), self._exact_quantile(0.75) - self._exact_quantile(0.25)
        return {
            "hessian_std": by_seed(lambda row: weighted_std(self.eigenvalues, row.double()), counts),
            "hessian_iqr": by_seed(self._iqr, counts),
            "hessian_std_exact": weighted_std(self.eigenvalues, self.pi).repeat(seeds),
            "hessian_iqr_exact": exact_iqr.repeat(seeds),
        }

    def _iqr(self, counts: Tensor) -> Tensor:
        found = percentile(self.eigenvalues, counts, 0.75) - percentile(self.eigenvalues, counts, 0.25)
        return found.masked_fill(~counts.any(), torch.nan)  # as the others of a seed without draws

    def _exact_quantile(self, level: float) -> Tensor:
        below = self.pi.cumsum(0) < level
        quantile: Tensor = self.eigenvalues[below.sum()]
        return quantile


def weighted_std(values: Tensor, weights: Tensor) -> Tensor:
    """Population standard deviation of `values` ``(n,)`` under `weights` ``(n,)`` of any sum."""
    shares = weights / weights.sum()
    variance: Tensor = shares @ (values - shares @ values).square()
    return variance.sqrt()


def percentile(values: Tensor, counts: Tensor, level: float) -> Tensor:
    """The quantile `level` of ascending `values` ``(n,)``, each repeated `counts` ``(n,)`` times.

    Of N numbers in total it is the one at rank level (N - 1), interpolated linearly.
    """
    ends = counts.cumsum(0)
    place = level * (ends[-1] - 1).double()
    low = place.floor()
    first, second = (
        values[torch.searchsorted(ends, rank.long(), right=True)] for rank in (low, place.ceil())
    )
    return first + (second - first) * (place - low)
