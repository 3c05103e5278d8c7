"""Forward Kullback-Leibler divergence from the draws to the target, D(pi || q) = sum_i pi_i log(pi_i / q_i).

q are the frequencies n_i / N of the `size` states among N draws, corrected where they are zero. N
independent draws from the target have `kl` of about (size - 1) / (2 N).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.metric import Context, by_seed
from metrics.statistics.visit_histogram import FrequencyMetric
from samplers.hyperparameters import positive

CLIP = 1e-12


class KL(FrequencyMetric):
    """D(pi || q) with q_i = (n_i + a) / (N + a size), a = 1/2 by default.

    That is, 0.5 / N is added to every frequency and q is normalised again (settings A.3), so that the
    value is a divergence between two distributions and never negative; NaN for a seed without draws.

    Args:
        smoothing: a > 0, in draws.
    """

    name = "kl"
    unit = "nats"
    bounds = (0.0, math.inf)
    direction = "min"

    def __init__(self, context: Context, smoothing: float = 0.5) -> None:
        super().__init__(context)
        self.smoothing = float(positive("metric.kl.smoothing", smoothing))

    def result(self) -> dict[str, Tensor]:
        total = self.visits.draws + self.smoothing * self.space.size
        smoothed = (self.visits.counts.double() + self.smoothing) / total
        found = _divergence(self.probabilities, smoothed)
        # Without draws the smoothing alone would be the value of a uniform distribution.
        return {self.name: found.masked_fill(self.visits.draws.squeeze(-1) == 0, math.nan)}


class KLClipped(FrequencyMetric):
    """D(pi || q) with both pi and q clipped from below at 1e-12 and not normalised again.

    The form of the PT-DLP paper's released code (settings A.3). While many states are unvisited the clip
    dominates the value: a set of unvisited states of mass m contributes about m log(1e12 / size) nats.
    """

    name = "kl_clipped"
    unit = "nats"
    direction = "min"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.probabilities = self.probabilities.clamp(min=CLIP)

    def result(self) -> dict[str, Tensor]:
        return {self.name: _divergence(self.probabilities, self.visits.frequencies().clamp_(min=CLIP))}


def _divergence(p: Tensor, q: Tensor) -> Tensor:
    """sum_i p_i log(p_i / q_i) of each row of `q`; terms with p_i = 0 are 0."""
    return by_seed(lambda row: (torch.special.xlogy(p, p) - torch.special.xlogy(p, row)).sum(), q)
