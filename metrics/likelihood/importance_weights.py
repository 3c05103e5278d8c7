"""Estimate of a log partition function from importance weights: error, interval, effective sample size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from targets.randomness import derive_seed, uniform

RESAMPLES, LEVEL = 2000, 0.95
BLOCK = 2**20
"""Number of weights that the bootstrap resamples at once, so that memory does not grow with the chains."""


@dataclass(frozen=True)
class Estimate:
    """log of the mean of n weights, or an estimate of log Z derived from it.

    Attributes:
        value: the estimate, in nats.
        standard_error: by the delta method, sd(w) / (mean(w) sqrt(n)). It is at most 1 whatever the actual
            error, so it is meaningless if the effective sample size is near 1.
        low, high: 95 % percentile bootstrap interval over chains; not symmetric.
        effective_sample_size: (sum w)^2 / sum w^2, from 1 to n.
        n: number of weights.
    """

    value: float
    standard_error: float
    low: float
    high: float
    effective_sample_size: float
    n: int

    def shifted(self, offset: float) -> Estimate:
        """The estimate of ``offset + value``: forward annealing with log Z_0."""
        return replace(self, value=offset + self.value, low=offset + self.low, high=offset + self.high)

    def reversed(self, offset: float) -> Estimate:
        """The estimate of ``offset - value``: reverse annealing with log Z_0."""
        return replace(self, value=offset - self.value, low=offset - self.high, high=offset - self.low)


def log_mean_weight(log_weights: Tensor, seed: int = 0) -> Estimate:
    """The estimate from log weights of any shape; `seed` is that of the bootstrap.

    Raises:
        ValueError: unless there are at least two weights, all finite.
    """
    values = log_weights.detach().double().cpu().flatten()
    n = len(values)
    finite = int(values.isfinite().sum())
    if n < 2 or finite < n:
        raise ValueError(
            f"importance weights must be at least two finite numbers, {finite} of the {n} given are finite"
        )
    peak = values.max()
    weights = (values - peak).exp()
    mean = weights.mean()
    generator = torch.Generator().manual_seed(derive_seed(seed, "bootstrap"))
    means = []
    for block in torch.split(torch.arange(RESAMPLES), max(1, BLOCK // n)):
        draws = uniform(generator, (len(block),), (n,), like=weights)
        means.append(weights[(draws * n).long().clamp_(max=n - 1)].mean(-1))
    tails = torch.tensor([(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0], dtype=torch.float64)
    low, high = (torch.cat(means).quantile(tails).log() + peak).tolist()
    return Estimate(
        value=float(peak + mean.log()),
        standard_error=float(weights.std() / (mean * math.sqrt(n))),
        low=low,
        high=high,
        effective_sample_size=float(weights.sum() ** 2 / weights.square().sum()),
        n=n,
    )
