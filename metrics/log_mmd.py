"""ln MMD^2 between where the chains stand and a ground truth, along the run (PT-DLP v2, Table 2, Figure 3).

The papers' number is a V-statistic of 100 chains against 500 reference draws. It has a floor, the value of
chains that are perfect, and below it nothing can be ranked (experiments, finding 7); so the floor, the
unbiased U-statistic, and the number of draws that would tell the sampler from the truth stand beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import torch
from torch import Tensor

from metrics.last_draws import LastDraws
from metrics.metric import Context, Metric, by_seed
from metrics.sums import restore
from metrics.truth import Truth, need_reference
from metrics.two_sample import samples_apart
from samplers.hyperparameters import count
from samplers.kernel import Info

NEAR_FLOOR = 0.3


class LogMMD(Metric):
    """Distance of the chains' states at one step from the target's reference draws, every few steps.

    Values, one per seed; NaN before the first evaluation:
        log_mmd: mean of ln MMD^2 (V-statistic, the first `references` draws) over the last evaluations.
        mmd_u: mean of MMD^2 (U-statistic, all reference draws) over the same; about 0 for a perfect
            sampler, at times negative.
        log_mmd_now: ln MMD^2 at the last evaluation.
        log_mmd_floor: mean ln MMD^2 of groups of as many held-out draws as there are chains.
        hit_step: the first step at which ln MMD^2 was within 0.3 of the floor or below it; NaN if none.
        samples_apart: independent draws on each side that tell a law at `mmd_u` from the truth
            (`metrics.two_sample.samples_apart`); NaN where `mmd_u` is not positive.

    The reference may be set after this is built; it is read at the first evaluation. A reference of R
    draws costs chains x R x d multiplications an evaluation.

    Args:
        every: steps between evaluations.
        window: number of last evaluations that are averaged.
        references: number of reference draws in the V-statistic.

    Raises:
        UnmetNeed: if the target is not binary or has no place for reference draws.
    """

    name = "log_mmd"
    unit = "ln squared distance"
    direction = "min"

    def __init__(self, context: Context, every: int = 10, window: int = 100, references: int = 500) -> None:
        super().__init__(context)
        need_reference(self.name, context)
        self.every = count("metric.log_mmd.every", every)
        self.window = count("metric.log_mmd.window", window)
        self.references = count("metric.log_mmd.references", references, 2)
        self.last_draws = context.statistic(LastDraws)
        empty = torch.full((context.seeds, 2, self.window), torch.nan, dtype=torch.float64)
        self.ring = empty.to(context.device)
        self.now = self.ring[:, 0, 0].clone()
        self.hit = self.now.clone()
        self.evaluated = 0

    @cached_property
    def truth(self) -> Truth:
        """The reference, as it is at the first evaluation.

        Raises:
            ValueError: if it is still empty.
        """
        return Truth(self._set("reference"), self.references)

    @cached_property
    def floor(self) -> Tensor:
        """Mean ln MMD^2 of perfect chains, a scalar."""
        return self.truth.floor(self._set("held_out"), self.context.chains).mean()

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        if step % self.every:
            return
        log_mmd, mmd_u = self.truth.both(theta)
        slot = step // self.every % self.window
        self.ring[:, 0, slot], self.ring[:, 1, slot] = log_mmd, mmd_u
        self.now = log_mmd
        reached = self.hit.isnan() & (log_mmd <= self.floor + NEAR_FLOOR)
        self.hit = torch.where(reached, float(step), self.hit)
        self.evaluated = step

    def result(self) -> dict[str, Tensor]:
        means = by_seed(lambda ring: ring.nanmean(-1), self.ring)
        mmd_u = means[:, 1]
        return {
            self.name: means[:, 0],
            "mmd_u": mmd_u,
            "log_mmd_now": self.now.clone(),
            "log_mmd_floor": self.floor.expand(self.context.seeds).clone(),
            "hit_step": self.hit.clone(),
            "samples_apart": samples_apart(mmd_u, self.truth.separation),
        }

    def merge(self, other: Self) -> None:
        # A step has its own slot, so the later stretch replaces exactly what it pushes out.
        self.ring = torch.where(other.ring[:, :1].isnan(), self.ring, other.ring)
        self.hit = torch.where(self.hit.isnan(), other.hit, self.hit)
        if other.evaluated:
            self.now, self.evaluated = other.now.clone(), other.evaluated

    def state_dict(self) -> dict[str, Any]:
        tensors = {"ring": self.ring.clone(), "now": self.now.clone(), "hit": self.hit.clone()}
        return {"evaluated": self.evaluated, **tensors}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`.

        Raises:
            ValueError: if it is of another number of seeds or another window.
        """
        for name in ("ring", "now", "hit"):
            restore(name, getattr(self, name), state[name])
        self.evaluated = int(state["evaluated"])

    def _set(self, name: str) -> Tensor:
        draws: Tensor = getattr(self.context.target, name)
        if not len(draws):
            raise ValueError(f"{self.name} needs the target's {name} draws, which are still empty")
        return draws.to(self.context.device)
