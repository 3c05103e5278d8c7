"""Time to target: steps and evaluations until a chain has a solution within a given gap of the best known."""

from __future__ import annotations

import math
from typing import Self

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.optimisation.incumbents import objectives, relative_gap, require_known
from samplers.kernel import Info
from targets.checks import within

ROUNDING = 1e-9
"""Gaps that differ by less are the same."""


class TimeToTarget(Metric):
    """Steps until the first draw whose gap is at most `gap`; infinite where there is none.

    Steps count from the start of the run; draws of the burn-in are not looked at.

    Values, one per seed:
        time_to_target: steps until the first of all chains has one.
        time_to_target_evaluations: evaluations of the target per chain until then.
        time_to_target_mean: steps that all chains took until they had one, or to the end of the run, over the
            number of chains that had one: the mean time of a chain if the time is exponential.
        time_to_target_reached: share of the chains that had one.

    Args:
        gap: how much worse than the best known a solution may be, as a share of its objective, from 0 to 1.

    Raises:
        UnsupportedMetric: if neither the optimum nor a published objective is known.
    """

    name = "time_to_target"
    unit = "steps"
    bounds = (0.0, math.inf)
    direction = "min"
    supports_levels = True
    needs_draws = False
    saved = ("step", "evaluations", "last", "spent")

    def __init__(self, context: Context, gap: float = 0.01) -> None:
        super().__init__(context)
        self.target, self.known = require_known(self.name, context)
        self.gap = within("gap", gap, 0.0, 1.0)
        shape = (context.seeds, context.chains)
        self.step = torch.full(shape, torch.inf, dtype=torch.float64, device=context.device)
        self.evaluations = self.step.clone()
        self.last = self.spent = 0

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        # Steps of the burn-in are not seen; they cost what this one does.
        unseen = 0 if self.last else step - 1
        self.spent += (1 + unseen) * info.evaluations
        self.last = step
        found = relative_gap(self.target, self.known, objectives(self.target, theta)) <= self.gap + ROUNDING
        first = found & self.step.isinf()
        self.step.masked_fill_(first, step)
        self.evaluations.masked_fill_(first, self.spent)

    def merge(self, other: Self) -> None:
        first = self.step.isinf()
        self.step = torch.where(first, other.step.to(self.step), self.step)
        self.evaluations = torch.where(first, other.evaluations.to(self.step), self.evaluations)
        if other.last:
            self.last, self.spent = other.last, other.spent

    def result(self) -> dict[str, Tensor]:
        taken = self.step.clamp(max=self.last)
        reached = self.step.isfinite().double()
        return {
            self.name: self.step.amin(-1),
            "time_to_target_evaluations": self.evaluations.amin(-1),
            "time_to_target_mean": by_seed(lambda row: row.sum(), taken)
            / by_seed(lambda row: row.sum(), reached),
            "time_to_target_reached": by_seed(lambda row: row.mean(), reached),
        }
