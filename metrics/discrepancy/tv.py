"""Distances between the visit frequencies and the exact probabilities of the states, |n_i / N - pi_i|."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import by_seed
from metrics.statistics.visit_histogram import FrequencyMetric


class TV(FrequencyMetric):
    """Total variation distance between the visit frequencies and the exact probabilities, in [0, 1].

    (1/2) sum_i |n_i / N - pi_i|.
    """

    name = "tv"
    unit = "probability"
    bounds = (0.0, 1.0)
    direction = "min"

    def result(self) -> dict[str, Tensor]:
        return {self.name: by_seed(lambda row: row.sum() / 2, self.gaps().abs_())}


class LogMeanGap(FrequencyMetric):
    """Natural logarithm of the mean absolute error of the visit frequencies: ln(2 TV / size).

    ln mean_i |pi_i - n_i / N| over the states: the distance that EDLP's code prints for Figure 2. Minus
    infinity if all frequencies are exact.
    """

    name = "log_mean_gap"
    unit = "ln probability"
    direction = "min"

    def result(self) -> dict[str, Tensor]:
        return {self.name: by_seed(lambda row: row.mean().log(), self.gaps().abs_())}
