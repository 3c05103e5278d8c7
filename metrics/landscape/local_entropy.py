"""Local entropy at the visited states (EDLP, Eq. 2): the log of the smoothed probability around them."""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.metric import Context, by_seed
from metrics.statistics.visit_histogram import FrequencyMetric
from samplers.hyperparameters import positive
from targets import Discrete, Target

STATES_AT_ONCE = 2**16


class LocalEntropy(FrequencyMetric):
    """Mean over draws of F(theta; eta) = ln sum_theta' exp{U(theta') - |theta - theta'|^2 / (2 eta)}.

    A constant added to U shifts F by the same amount. F is computed once for all states, by enumeration.

    Values, one per seed:
        local_entropy: the mean over the draws, in nats.
        local_entropy_exact: the expectation under the target.

    Args:
        eta: eta > 0, in squared state units. F tends to U as eta -> 0 and to ln sum exp U as eta -> infinity.
    """

    name = "local_entropy"
    unit = "nats"
    direction = None

    def __init__(self, context: Context, eta: float = 0.1) -> None:
        super().__init__(context)
        width = float(positive("metric.local_entropy.eta", eta))
        log_prob = energies(context.target, self.space)
        self.entropies = local_entropies(self.space, log_prob, width).to(context.device)

    def result(self) -> dict[str, Tensor]:
        exact = self.probabilities @ self.entropies
        return {
            self.name: by_seed(self.entropies.dot, self.visits.frequencies()),
            f"{self.name}_exact": exact.repeat(self.context.seeds),
        }


def local_entropies(space: Discrete, log_prob: Tensor, eta: float) -> Tensor:
    """F of all states of `space`, ``(size,)``, from their energies `log_prob` ``(size,)``.

    The squared distance is a sum over coordinates, so the coordinates are summed out one after another: d
    passes of `levels` sums each, instead of a matrix of all pairs.
    """
    one = type(space)(1, space.levels)
    coordinate = one.states(log_prob.dtype).flatten(1).to(log_prob.device)
    log_kernel = (coordinate.unsqueeze(1) - coordinate).square().sum(-1) / (-2.0 * eta)
    sums = log_prob
    for place in range(space.d):
        table = sums.reshape(space.levels**place, space.levels, -1)
        rows = [torch.logsumexp(table + row.unsqueeze(-1), dim=1) for row in log_kernel]
        sums = torch.stack(rows, dim=1).flatten()
    return sums


@torch.no_grad()
def energies(target: Target, space: Discrete) -> Tensor:
    """U of all states of `space`, ``(size,)``, float64, evaluated in parts."""
    like = target.like()
    parts = torch.split(space.states(like.dtype), STATES_AT_ONCE)
    return torch.cat([target.log_prob(part.to(like.device)).double() for part in parts])
