"""Flatness of the visited states: the variation of U over their neighbourhood of Hamming radius 1.

EDLP (section 6.1) calls a mode flat if its immediate neighbours are about as probable as the mode.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from metrics.landscape.local_entropy import energies
from metrics.metric import Context, Metric, UnsupportedMetric, by_seed
from metrics.requirements import enumerable, require_enumeration
from metrics.statistics.last_draws import LastDraws
from metrics.statistics.mode_occupancy import TABLE_LIMIT
from metrics.statistics.visit_histogram import VisitHistogram
from targets import Binary, Target

STATES_AT_ONCE = 2**13


class Flatness(Metric):
    """Variation of U around the draws: the smaller, the flatter; zero if U is constant around them.

    With D_i = U(theta with coordinate i flipped) - U(theta), i = 1 .. d:

    Values, one per seed:
        flatness_sd: mean over draws of the standard deviation of U over the d + 1 states of the
            neighbourhood, including theta, which is that of 0, D_1, .. D_d; in nats.
        flatness_gap: mean over draws of (1/d) sum_i |D_i|, in nats.
        flatness_sd_exact, flatness_gap_exact: expectations under the target, if its states can be listed.

    If the target's states can be listed (at most 65,536 of them) the means are over all draws. Otherwise they
    are over the chains' current states, which costs d + 1 evaluations per chain at each recorded step.

    Raises:
        UnsupportedMetric: if the target is not binary, or some states have density zero.
    """

    name = "flatness"
    unit = "nats"
    direction = None

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.space = require_neighbours(self.name, context)
        target = context.target
        self.table: dict[str, Tensor] | None = None
        if enumerable(target) and self.space.size <= TABLE_LIMIT:
            table = energies(target, self.space).to(context.device)
            if not table.isfinite().all():
                raise UnsupportedMetric(_without_density(self.name, target))
            rise = rises_of_table(table)
            self.table = {key: measure(rise) for key, measure in MEASURES.items()}
            _, self.probabilities = require_enumeration(self.name, context)
            self.visits = context.statistic(VisitHistogram)
        else:
            self.last_draws = context.statistic(LastDraws)

    def result(self) -> dict[str, Tensor]:
        if self.table is None:
            return self._of_last_draws()
        frequencies, values = self.visits.frequencies(), {}
        for key, of_states in self.table.items():
            values[key] = by_seed(of_states.dot, frequencies)
            values[f"{key}_exact"] = self.probabilities.dot(of_states).repeat(self.context.seeds)
        return values

    def _of_last_draws(self) -> dict[str, Tensor]:
        theta = self.last_draws.theta
        if theta is None:
            nothing = torch.full((self.context.seeds,), torch.nan, dtype=torch.float64)
            return {key: nothing.to(self.context.device) for key in MEASURES}
        found = by_seed(partial(rises, self.context.target), theta)
        # Also the measure itself: how std() rounds depends on the number of seeds.
        return {key: by_seed(partial(_mean, measure), found) for key, measure in MEASURES.items()}


def neighbourhood_sd(rise: Tensor) -> Tensor:
    """Standard deviation of U over a state and its neighbours, ``(*batch)``, from `rise` ``(*batch, d)``."""
    ball = torch.cat([torch.zeros_like(rise[..., :1]), rise], dim=-1)
    return ball.std(dim=-1, correction=0)


def neighbourhood_gap(rise: Tensor) -> Tensor:
    """Mean absolute difference of U between a state and its neighbours, ``(*batch)``."""
    return rise.abs().mean(dim=-1)


def _mean(measure: Callable[[Tensor], Tensor], rise: Tensor) -> Tensor:
    """The mean of `measure` over the states of one seed."""
    return measure(rise).mean()


MEASURES: dict[str, Callable[[Tensor], Tensor]] = {
    "flatness_sd": neighbourhood_sd,
    "flatness_gap": neighbourhood_gap,
}


def rises_of_table(log_prob: Tensor) -> Tensor:
    """D of all states of ``{0, 1}^d``, ``(2**d, d)``, from their energies ``(2**d,)``."""
    d = len(log_prob).bit_length() - 1
    flipped = [log_prob.reshape(2**place, 2, -1).flip(1).flatten() for place in range(d)]
    return torch.stack(flipped, dim=-1) - log_prob.unsqueeze(-1)


@torch.no_grad()
def rises(target: Target, theta: Tensor) -> Tensor:
    """D of binary states `theta` ``(*batch, d)``, same shape, float64: d + 1 evaluations, in parts."""
    d, states = theta.shape[-1], theta.reshape(-1, theta.shape[-1])
    parts = []
    for part in torch.split(states, max(1, STATES_AT_ONCE // d)):
        neighbours = part.unsqueeze(-2).repeat(1, d, 1)
        diagonal = neighbours.diagonal(dim1=-2, dim2=-1)
        diagonal.mul_(-1.0).add_(1.0)
        around = target.log_prob(neighbours.flatten(0, 1)).reshape(part.shape)
        parts.append(around.double() - target.log_prob(part).double().unsqueeze(-1))
    return torch.cat(parts).reshape(theta.shape)


def require_neighbours(metric: str, context: Context) -> Binary:
    """The target's space, which must be binary, with a positive density at every state.

    Raises:
        UnsupportedMetric: otherwise.
    """
    target, space = context.target, context.target.space
    if not isinstance(space, Binary):
        raise UnsupportedMetric(f"{metric} needs a binary target; {type(target).__name__} is on {space}")
    if target.constrained:
        raise UnsupportedMetric(_without_density(metric, target))
    return space


def _without_density(metric: str, target: Target) -> str:
    return (
        f"{metric} needs a target with density everywhere; some states of {type(target).__name__} have none"
    )
