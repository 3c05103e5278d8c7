"""Forward Kullback-Leibler divergence from the draws to the target, D(pi || q) = sum_i pi_i log(pi_i / q_i).

q are the frequencies n_i / N of the `size` states among N draws, mended where they are zero. N independent
draws from the target itself score about (size - 1) / (2 N) by `kl`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.requirements import need_enumeration
from metrics.statistics.visit_histogram import VisitHistogram
from samplers.hyperparameters import positive

CLIP = 1e-12


class KL(Metric):
    """D(pi || q) with q_i = (n_i + a) / (N + a size), a = 1/2 by default.

    That is 0.5 / N added to every frequency and q normalised again (`experiments.md` A.3), so that the
    value is a divergence between two distributions and never negative.

    Args:
        smoothing: a, in draws.
    """

    name = "kl"
    unit = "nats"
    direction = "min"
    heeds_level = True

    def __init__(self, context: Context, smoothing: float = 0.5) -> None:
        super().__init__(context)
        space, self.probabilities = need_enumeration(self.name, context)
        checked = positive("metric.kl.smoothing", smoothing)
        assert checked is not None
        self.smoothing, self.size = float(checked), space.size
        self.visits = context.statistic(VisitHistogram)

    def result(self) -> dict[str, Tensor]:
        total = self.visits.draws + self.smoothing * self.size
        smoothed = (self.visits.counts.double() + self.smoothing) / total
        return {self.name: _divergence(self.probabilities, smoothed)}


class KLClipped(Metric):
    """D(pi || q) with both pi and q clipped from below at 1e-12 and not normalised again.

    The form of the PT-DLP paper's released code (`experiments.md` A.3). As long as a good part of the
    states is unvisited the clip decides the value: about log(1e12 / size) nats for each of their mass.
    """

    name = "kl_clipped"
    unit = "nats"
    direction = "min"
    heeds_level = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        _, probabilities = need_enumeration(self.name, context)
        self.probabilities = probabilities.clamp(min=CLIP)
        self.visits = context.statistic(VisitHistogram)

    def result(self) -> dict[str, Tensor]:
        return {self.name: _divergence(self.probabilities, self.visits.frequencies().clamp_(min=CLIP))}


def _divergence(p: Tensor, q: Tensor) -> Tensor:
    """sum_i p_i log(p_i / q_i) of each row of `q`; terms with p_i = 0 are 0."""
    return by_seed(lambda row: (torch.special.xlogy(p, p) - torch.special.xlogy(p, row)).sum(), q)
