"""Total variation distance between the draws and the target, (1/2) sum_i |n_i / N - pi_i|."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.requirements import require_enumeration
from metrics.statistics.visit_histogram import VisitHistogram


class TV(Metric):
    """Total variation distance between the visit frequencies and the exact probabilities, in [0, 1].

    Raises:
        UnsupportedMetric: if the target's states cannot be listed.
    """

    name = "tv"
    unit = "probability"
    direction = "min"
    supports_levels = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        _, self.probabilities = require_enumeration(self.name, context)
        self.visits = context.statistic(VisitHistogram)

    def result(self) -> dict[str, Tensor]:
        gaps = (self.visits.frequencies() - self.probabilities).abs_()
        return {self.name: by_seed(lambda row: row.sum() / 2, gaps)}
