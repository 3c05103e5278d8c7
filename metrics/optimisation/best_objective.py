"""The best objective that the chains have found, and its gap to the best one known."""

from __future__ import annotations

import math

from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.optimisation.incumbents import Incumbents, relative_gap, require_known, require_objective


class BestObjective(Metric):
    """Best objective among the feasible draws; NaN where no draw is feasible. Larger or smaller is better.

    Values, one per seed:
        objective: the best of all chains.
        objective_chains: mean over the chains of the best of each.
        objective_known: the optimum, or the best one that has been published, if the target knows it.
        objective_exact: the optimum, if the target knows it.

    Chains that move between temperatures count at every one of them, not at the cold level alone.

    Raises:
        UnsupportedMetric: if the target has no objective.
    """

    name = "objective"
    unit = "objective"
    direction = None
    supports_levels = True
    needs_draws = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.target = require_objective(self.name, context)
        self.best = context.statistic(Incumbents)

    def result(self) -> dict[str, Tensor]:
        best = self.best.of_seed()
        values = {self.name: best, "objective_chains": by_seed(lambda row: row.mean(), self.best.objective)}
        for name, value in (("known", self.target.best_known()), ("exact", self.target.optimum())):
            if value is not None:
                values[f"objective_{name}"] = best.new_full(best.shape, value)
        return values


class Gap(Metric):
    """How much worse the best feasible draw is than the best known solution, as a share of its objective.

    0 where it was found, infinite where no draw is feasible, and below 0 where a better one was found.

    Values, one per seed:
        gap: of the best of all chains.
        gap_chains: mean over the chains of the gap of each.

    Raises:
        UnsupportedMetric: if neither the optimum nor a published objective is known.
    """

    name = "gap"
    unit = "share"
    bounds = (-math.inf, math.inf)
    direction = "min"
    supports_levels = True
    needs_draws = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.target, self.known = require_known(self.name, context)
        self.best = context.statistic(Incumbents)

    def result(self) -> dict[str, Tensor]:
        chains = relative_gap(self.target, self.known, self.best.objective)
        return {
            self.name: relative_gap(self.target, self.known, self.best.of_seed()),
            "gap_chains": by_seed(lambda row: row.mean(), chains),
        }
