"""The best solution of each chain so far, and how much worse it is than the best one known."""

from __future__ import annotations

from typing import Self, cast

import torch
from torch import Tensor

from metrics.metric import Context, Statistic, UnsupportedMetric
from metrics.requirements import require_members
from samplers.kernel import Info
from targets.graphs.objective import HasObjective

SAME = 1e-12
"""A smaller relative difference is the rounding of sums of weights that are not whole: it is none."""

MEMBERS = ("direction", "scale", "objective", "feasible", "repaired", "optimum", "best_known")


def require_objective(metric: str, context: Context) -> HasObjective:
    """The target, which must be an optimisation problem.

    Raises:
        UnsupportedMetric: if it has no objective.
    """
    need = "with an objective, such as maxcut; {} has none"
    return cast(HasObjective, require_members(metric, context, MEMBERS, need))


def require_known(metric: str, context: Context) -> tuple[HasObjective, float]:
    """The problem, and its optimum or the best objective known.

    Raises:
        UnsupportedMetric: if neither is known.
    """
    target = require_objective(metric, context)
    known = target.best_known()
    if known is None:
        raise UnsupportedMetric(
            f"{metric} needs a problem whose optimum or best objective is known: a small or a published one"
        )
    return target, known


def relative_gap(target: HasObjective, known: float, objective: Tensor) -> Tensor:
    """How much worse each objective is than the one known, as a share of it; of 0 the difference itself.

    Infinite for an objective of NaN, which is that of no solution; below 0 if it is better, and 0 within
    `SAME`.
    """
    worse = known - objective if target.direction == "max" else objective - known
    gap = (worse / (abs(known) or 1.0)).nan_to_num(nan=torch.inf)
    return gap.masked_fill(gap.abs() < SAME, 0.0)


class Incumbents(Statistic):
    """The best objective among the feasible draws of each chain.

    Attributes:
        objective: ``(seeds, chains)``, float64; NaN before the first solution.
    """

    saved = ("objective",)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.target = require_objective("objective", context)
        shape = (context.seeds, context.chains)
        self.objective = torch.full(shape, torch.nan, dtype=torch.float64, device=context.device)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        self._offer(objectives(self.target, theta))

    def merge(self, other: Self) -> None:
        self._offer(other.objective.to(self.objective.device))

    def of_seed(self) -> Tensor:
        """The best objective of each seed's chains, ``(seeds,)``; NaN if none has found a solution."""
        signed = self._signed(self.objective).nan_to_num(nan=-torch.inf).amax(-1)
        return self._signed(signed.masked_fill(signed.isneginf(), torch.nan))

    def _signed(self, values: Tensor) -> Tensor:
        return values if self.target.direction == "max" else -values

    def _offer(self, objective: Tensor) -> None:
        """Replaces a chain's best objective where the given one is better, or the only one."""
        better = self._signed(objective) > self._signed(self.objective)
        self.objective = torch.where(better | self.objective.isnan(), objective, self.objective)


def objectives(target: HasObjective, theta: Tensor) -> Tensor:
    """The objective of each state, ``(*batch)``, float64; NaN where it is no solution."""
    return target.objective(theta).masked_fill(~target.feasible(theta), torch.nan)
