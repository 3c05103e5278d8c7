"""Errors of the predictions of the chains' states, every few steps along the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from metrics.metric import Context, UnsupportedMetric, by_seed
from metrics.statistics.thinned_series import ThinnedSeries
from samplers.kernel import Info
from targets.checks import whole_number
from targets.tabular.distinct_rows import Predictive

MOST = 1024
RMSE, SQUARED, LOG_LIKELIHOOD = range(3)
"""The three measures of an evaluation, in the order in which they are stored."""


class PredictionErrors(ThinnedSeries):
    """Three measures of the networks at steps 1, 1 + every, 1 + 2 every, ..., as in the released code.

    When 1,024 evaluations are stored, every other one is dropped and `every` doubles. An evaluation computes
    the predictions of all chains for all rows of the part.

    With p the prediction of a chain for a row and y the row's outcome, the measures of a seed are:
        RMSE: root of the mean over rows of (mean of p over chains - y)^2.
        SQUARED: mean over chains and rows of (p - y)^2.
        LOG_LIKELIHOOD: mean over chains and rows of y log p + (1 - y) log(1 - p), in nats.

    Args:
        part: ``train``, ``validation`` or ``test``.
        every: steps between evaluations.
    """

    start = 1

    def __init__(self, context: Context, part: str, every: int) -> None:
        super().__init__(context, (context.seeds, 3), torch.float64, MOST, every)
        self.part = part
        self.last = 0
        """The last step of which it was told, evaluated or not."""

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        self.last = step
        super().update(step, theta, info)

    def value(self, step: int, theta: Tensor) -> Tensor:
        return by_seed(self._measures, theta)

    def over(self, measure: int, *, last_half: bool) -> Tensor:
        """The stored values of a measure, all or of the last half of the steps: ``(evaluations, seeds)``.

        There are none in that half where `every` is longer than it.
        """
        from_step = self.last / 2 if last_half else 0
        first = sum(step <= from_step for step in self.steps)
        return self.rows[first:, :, measure]

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.last = max(self.last, other.last)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "last": self.last}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`; of one without `last` the last evaluation is the last step.

        Raises:
            ValueError: if the saved rows have a different shape.
        """
        super().load_state_dict(state)
        self.last = int(state.get("last", self.steps[-1] if self.steps else 0))

    def _measures(self, theta: Tensor) -> Tensor:
        """The three measures of one seed's chains ``(chains, d)``."""
        target = self.context.target
        assert isinstance(target, Predictive)
        rows, logits = target.rows(self.part), target.logits(theta, self.part)
        error = logits.sigmoid() - rows.outcome
        log_likelihood = (logsigmoid(logits) - (1.0 - rows.outcome) * logits) @ rows.share
        together = error.mean(0).square() @ rows.share + rows.spread
        alone = error.square() @ rows.share + rows.spread
        return torch.stack([together.sqrt(), alone.mean(), log_likelihood.mean()]).double()


def prediction_errors(metric: str, context: Context, part: str, every: int) -> PredictionErrors:
    """The shared statistic of all metrics of predictions.

    Raises:
        UnsupportedMetric: if the target is not `targets.tabular.distinct_rows.Predictive`.
        ValueError: if `every` is not a positive whole number.
    """
    whole_number(f"metric.{metric}.every", every)
    if not isinstance(context.target, Predictive):
        name = type(context.target).__name__
        raise UnsupportedMetric(f"{metric} needs a target that predicts the rows of a table; {name} does not")
    return context.statistic(PredictionErrors, part=part, every=every)


def mean(values: Tensor) -> Tensor:
    """Mean over evaluations of values ``(evaluations, seeds)``, ``(seeds,)``; NaN without evaluations."""
    return by_seed(lambda row: row.mean(), values.T)


def deviation(values: Tensor) -> Tensor:
    """Population standard deviation over evaluations of values ``(evaluations, seeds)``, ``(seeds,)``.

    NaN without evaluations, of which torch would warn.
    """
    if not len(values):
        return mean(values)
    return by_seed(lambda row: row.std(correction=0), values.T)
