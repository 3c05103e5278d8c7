"""Feasibility: how many draws are solutions, and how good the best states are after greedy repair."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.optimisation.incumbents import require_objective
from metrics.statistics.sums import Sums
from samplers.kernel import Info


class BestStates(Sums):
    """Counts of feasible draws, and the most likely state of each chain, the first of equal ones.

    Attributes:
        feasible: number of feasible draws ``(seeds, chains)``, int64.
        log_prob: U of the most likely state, ``(seeds, chains)``; minus infinity before the first draw.
        state: that state, ``(seeds, chains, *event_shape)``.
    """

    saved = ("log_prob", "state")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.problem, target = require_objective("feasibility", context), context.target
        shape, like = (context.seeds, context.chains), target.like().to(context.device)
        self.feasible = self.zeros("feasible", *shape, dtype=torch.int64)
        self.log_prob = like.new_full(shape, -torch.inf)
        self.state = like.new_zeros((*shape, *target.space.event_shape))

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        self.feasible.add_(self.problem.feasible(theta))
        self._offer(self.context.target.log_prob(theta), theta)
        self.steps += 1

    def merge(self, other: Self) -> None:
        super().merge(other)
        self._offer(other.log_prob.to(self.log_prob), other.state.to(self.state))

    def _offer(self, log_prob: Tensor, theta: Tensor) -> None:
        better = log_prob > self.log_prob
        event = better.reshape(*better.shape, *(1,) * (theta.dim() - better.dim()))
        self.state = torch.where(event, theta, self.state)
        self.log_prob = torch.where(better, log_prob, self.log_prob)


class Feasibility(Metric):
    """The share of draws that are solutions, and the objectives after greedy repair.

    The most likely draw of each chain is repaired by the target's own greedy rule, as somebody who needs a
    solution would do.

    Values, one per seed:
        feasible: share of the draws that are feasible.
        objective_repaired: best objective of the chains after repair.
        objective_repaired_chains: mean over the chains of the objective after repair.

    Raises:
        UnsupportedMetric: if the target has no objective.
    """

    name = "feasible"
    unit = "share"
    bounds = (0.0, 1.0)
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.target = require_objective(self.name, context)
        self.states = context.statistic(BestStates)

    def result(self) -> dict[str, Tensor]:
        share = self.states.feasible.double() / self.states.steps
        repaired = self.target.objective(self.target.repaired(self.states.state))
        best = repaired.amax(-1) if self.target.direction == "max" else repaired.amin(-1)
        return {
            self.name: by_seed(lambda row: row.mean(), share),
            "objective_repaired": best,
            "objective_repaired_chains": by_seed(lambda row: row.mean(), repaired),
        }
