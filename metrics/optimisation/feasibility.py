"""Feasibility: how many draws are solutions, and how good the best states are after greedy repair."""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.optimisation.best_state import BestStates
from metrics.optimisation.incumbents import require_objective
from metrics.statistics.sums import Sums
from samplers.kernel import Info


class FeasibleDraws(Sums):
    """Counts of feasible draws.

    Attributes:
        feasible: ``(seeds, chains)``, int64.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.problem = require_objective("feasibility", context)
        self.feasible = self.zeros("feasible", context.seeds, context.chains, dtype=torch.int64)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        self.feasible.add_(self.problem.feasible(theta))
        self.steps += 1


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
    needs_draws = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.target = require_objective(self.name, context)
        self.draws, self.best = context.statistic(FeasibleDraws), context.statistic(BestStates)

    def result(self) -> dict[str, Tensor]:
        share = self.draws.feasible.double() / self.draws.steps
        repaired = self.target.objective(self.target.repaired(self.best.state))
        best = repaired.amax(-1) if self.target.direction == "max" else repaired.amin(-1)
        return {
            self.name: by_seed(lambda row: row.mean(), share),
            "objective_repaired": best,
            "objective_repaired_chains": by_seed(lambda row: row.mean(), repaired),
        }
