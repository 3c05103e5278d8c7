"""ln mean_i |pi_i - n_i / N| over the states: the distance that EDLP's code prints for Figure 2."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.requirements import require_enumeration
from metrics.statistics.visit_histogram import VisitHistogram


class LogMeanGap(Metric):
    """Natural logarithm of the mean absolute error of the visit frequencies: ln(2 TV / size).

    Minus infinity if all frequencies are exact.

    Raises:
        UnsupportedMetric: if the target's states cannot be listed.
    """

    name = "log_mean_gap"
    unit = "ln probability"
    direction = "min"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        _, self.probabilities = require_enumeration(self.name, context)
        self.visits = context.statistic(VisitHistogram)

    def result(self) -> dict[str, Tensor]:
        gaps = (self.visits.frequencies() - self.probabilities).abs_()
        return {self.name: by_seed(lambda row: row.mean().log(), gaps)}
