"""ln MMD^2 between where the chains stand and a ground truth, along the run (PT-DLP v2, Table 2, Figure 3).

The papers' number is a V-statistic of 100 chains against 500 reference draws. It has a floor, the value of
chains that are perfect, and below it nothing can be ranked (experiments, finding 7); so the floor, the
unbiased U-statistic, and the number of draws that would tell the sampler from the truth stand beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.statistics.last_draws import LastDraws
from metrics.statistics.sums import restore
from metrics.two_sample.mmd_statistics import null_sd, samples_apart
from metrics.two_sample.reference_sample import Truth, need_reference
from samplers.hyperparameters import count, within
from samplers.kernel import Info

NEAR_FLOOR = 0.3


class LogMMD(Metric):
    """Distance of the chains' states at one step from the target's reference draws, every few steps.

    Values, one per seed; NaN before the first evaluation:
        log_mmd: mean of ln MMD^2 (V-statistic, the first `references` draws) over the evaluations at the
            end: those in the last `share` of the steps up to the last evaluation, at least that one and
            at most the last `window`.
        mmd_u: mean of MMD^2 (U-statistic, all reference draws) over the same; about 0 for a perfect
            sampler, at times negative.
        mmd_u_sd0: standard deviation of one evaluation of the U-statistic for a perfect sampler, all draws
            taken as independent (`metrics.two_sample.mmd_statistics.null_sd`).
        log_mmd_now: ln MMD^2 at the very step that the value is asked for; known from the first step on.
        log_mmd_floor: mean ln MMD^2 of groups of as many held-out draws as there are chains.
        hit_step: the first step at which ln MMD^2 was within 0.3 of the floor or below it; NaN if none.
        samples_apart: independent draws on each side that tell a law at `mmd_u` from the truth
            (`metrics.two_sample.mmd_statistics.samples_apart`); NaN where `mmd_u` is not positive.

    The reference may be set after this is built; it is read at the first evaluation. A reference of R
    draws costs chains x R x d multiplications an evaluation. Where the target says that its reference is
    snapshots of ``target.reference_chains`` chains (an int; row r of chain r modulo it), snapshots of one
    chain are not taken for independent; without that attribute all rows are.

    Args:
        every: steps between evaluations.
        window: most evaluations that are averaged: 100 are the last tenth of 10,000 steps.
        share: share of the steps so far, at the end, whose evaluations are averaged.
        references: number of reference draws in the V-statistic.

    Raises:
        UnmetNeed: if the target is not binary or has no place for reference draws.
    """

    name = "log_mmd"
    unit = "ln squared distance"
    direction = "min"

    def __init__(
        self,
        context: Context,
        every: int = 10,
        window: int = 100,
        references: int = 500,
        share: float = 0.1,
    ) -> None:
        super().__init__(context)
        need_reference(self.name, context)
        self.every = count("metric.log_mmd.every", every)
        self.window = count("metric.log_mmd.window", window)
        self.references = count("metric.log_mmd.references", references, 2)
        self.share = within("metric.log_mmd.share", share, 0.0, 1.0)
        self.last_draws = context.statistic(LastDraws)
        empty = torch.full((context.seeds, 2, self.window), torch.nan, dtype=torch.float64)
        self.ring = empty.to(context.device)
        self.hit = self.ring[:, 0, 0].clone()
        self.evaluated = 0

    @cached_property
    def truth(self) -> Truth:
        """The reference, as it is at the first evaluation.

        Raises:
            ValueError: if it is still empty, or the target's `reference_chains` does not fit it.
        """
        chains: int | None = getattr(self.context.target, "reference_chains", None)
        return Truth(self._set("reference"), self.references, chains)

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
        reached = self.hit.isnan() & (log_mmd <= self.floor + NEAR_FLOOR)
        self.hit = torch.where(reached, float(step), self.hit)
        self.evaluated = step

    def result(self) -> dict[str, Tensor]:
        means = by_seed(lambda ring: ring.nanmean(-1), self.ring[..., self._slots()])
        mmd_u = means[:, 1]
        theta, truth = self.last_draws.theta, self.truth
        null = null_sd(truth.second_moment, self.context.chains, len(truth.draws))
        return {
            self.name: means[:, 0],
            "mmd_u": mmd_u,
            "mmd_u_sd0": null.expand(self.context.seeds).clone(),
            "log_mmd_now": torch.full_like(self.hit, torch.nan) if theta is None else truth.log_mmd(theta),
            "log_mmd_floor": self.floor.expand(self.context.seeds).clone(),
            "hit_step": self.hit.clone(),
            "samples_apart": samples_apart(mmd_u, truth.separation),
        }

    def _slots(self) -> list[int]:
        """Where in the ring the evaluations at the end are."""
        last = self.evaluated // self.every
        # A product like 0.1 x 30 is a little above its whole number, which is no further evaluation.
        some = min(max(1, math.ceil(self.share * last - 1e-9)), self.window)
        return [place % self.window for place in range(last - some + 1, last + 1)]

    def merge(self, other: Self) -> None:
        # A step has its own slot, so the later stretch replaces exactly what it pushes out.
        self.ring = torch.where(other.ring[:, :1].isnan(), self.ring, other.ring)
        self.hit = torch.where(self.hit.isnan(), other.hit, self.hit)
        if other.evaluated:
            self.evaluated = other.evaluated

    def state_dict(self) -> dict[str, Any]:
        return {"evaluated": self.evaluated, "ring": self.ring.clone(), "hit": self.hit.clone()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`.

        Raises:
            ValueError: if it is of another number of seeds or another window.
        """
        for name in ("ring", "hit"):
            restore(name, getattr(self, name), state[name])
        self.evaluated = int(state["evaluated"])

    def _set(self, name: str) -> Tensor:
        draws: Tensor = getattr(self.context.target, name)
        if not len(draws):
            raise ValueError(f"{self.name} needs the target's {name} draws, which are still empty")
        return draws.to(self.context.device)
