"""ln MMD^2 between the current states of the chains and a reference sample, along the run.

PT-DLP v2, Table 2 and Figure 3. The papers report a V-statistic of 100 chains against 500 reference draws. It
is biased upwards: even exact draws score a positive floor, and values near the floor cannot be ranked
(settings, finding 7). Therefore the floor, the unbiased U-statistic and the sample size that would detect the
difference from the target are reported with it.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from metrics.metric import Context, Metric, by_seed
from metrics.statistics.last_draws import LastDraws
from metrics.two_sample.mmd_statistics import null_sd, required_sample_size
from metrics.two_sample.reference_sample import ReferenceSample, require_reference
from samplers.kernel import Info
from targets.checks import whole_number, within

NEAR_FLOOR = 0.3


class LogMMD(Metric):
    """ln MMD^2 of the chains' states at one step to the target's reference sample, every few steps.

    Values, one per seed; NaN before the first evaluation:
        log_mmd: mean of ln MMD^2 (V-statistic, the first `references` draws) over the last evaluations:
            those in the last `share` of the steps, at least one and at most `window`.
        mmd_u: mean of MMD^2 (U-statistic, all reference draws) over the same evaluations; about 0 for an
            exact sampler, and sometimes negative.
        mmd_u_sd0: standard deviation of one evaluation of the U-statistic for an exact sampler, if all draws
            are independent (`metrics.two_sample.mmd_statistics.null_sd`).
        log_mmd_now: ln MMD^2 of the states at the current step; defined from the first step on.
        log_mmd_floor: mean ln MMD^2 of groups of held-out reference draws, each as many as there are chains.
        hit_step: the first step at which ln MMD^2 was at most 0.3 above the floor; NaN if none. Steps of
            the burn-in count but are not looked at, so that it is none of them.
        samples_apart: the required sample size, independent draws on each side, to detect a difference of
            `mmd_u` (`metrics.two_sample.mmd_statistics.required_sample_size`); NaN if `mmd_u` <= 0.

    The reference sample may be set after this is built; it is read at the first evaluation. With R reference
    draws an evaluation costs chains x R x d multiplications. If the target has an attribute
    ``reference_chains`` (an int), row r of its reference sample is from chain r modulo that number, and draws
    of one chain are not treated as independent; otherwise all rows are.

    Args:
        every: steps between evaluations.
        window: maximum number of evaluations that are averaged: 100 cover the last tenth of 10,000 steps.
        share: fraction of the steps so far, counted from the end, whose evaluations are averaged.
        references: number of reference draws in the V-statistic.

    Raises:
        UnsupportedMetric: if the target is not binary or has no attribute for a reference sample.
    """

    name = "log_mmd"
    unit = "ln squared distance"
    direction = "min"
    saved = ("evaluated", "ring", "hit")

    def __init__(
        self,
        context: Context,
        every: int = 10,
        window: int = 100,
        references: int = 500,
        share: float = 0.1,
    ) -> None:
        super().__init__(context)
        require_reference(self.name, context)
        self.every = whole_number("metric.log_mmd.every", every)
        self.window = whole_number("metric.log_mmd.window", window)
        self.references = whole_number("metric.log_mmd.references", references, 2)
        self.share = within("metric.log_mmd.share", share, 0.0, 1.0)
        self.last_draws = context.statistic(LastDraws)
        empty = torch.full((context.seeds, 2, self.window), torch.nan, dtype=torch.float64)
        self.ring = empty.to(context.device)
        self.hit = self.ring[:, 0, 0].clone()
        self.evaluated = 0

    @cached_property
    def sample(self) -> ReferenceSample:
        """The reference sample, read at the first evaluation.

        Raises:
            ValueError: if it is still empty, or the target's `reference_chains` does not fit it.
        """
        chains: int | None = getattr(self.context.target, "reference_chains", None)
        return ReferenceSample(self._set("reference"), self.references, chains)

    @cached_property
    def floor(self) -> Tensor:
        """Mean ln MMD^2 of exact draws, a scalar."""
        return self.sample.floor(self._set("held_out"), self.context.chains).mean()

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        if step % self.every:
            return
        log_mmd, mmd_u = self.sample.log_mmd_and_u(theta)
        slot = step // self.every % self.window
        self.ring[:, 0, slot], self.ring[:, 1, slot] = log_mmd, mmd_u
        reached = self.hit.isnan() & (log_mmd <= self.floor + NEAR_FLOOR)
        self.hit = torch.where(reached, float(step), self.hit)
        self.evaluated = step

    def result(self) -> dict[str, Tensor]:
        means = by_seed(lambda ring: ring.nanmean(-1), self.ring[..., self._slots()])
        mmd_u = means[:, 1]
        theta, sample = self.last_draws.theta, self.sample
        null = null_sd(sample.second_moment, self.context.chains, len(sample.draws))
        return {
            self.name: means[:, 0],
            "mmd_u": mmd_u,
            "mmd_u_sd0": null.expand(self.context.seeds).clone(),
            "log_mmd_now": torch.full_like(self.hit, torch.nan) if theta is None else sample.log_mmd(theta),
            "log_mmd_floor": self.floor.expand(self.context.seeds).clone(),
            "hit_step": self.hit.clone(),
            "samples_apart": required_sample_size(mmd_u, sample.detection_constant),
        }

    def _slots(self) -> list[int]:
        """Positions in the ring buffer of the evaluations that are averaged."""
        last = self.evaluated // self.every
        # The tolerance keeps ceil(0.1 * 30) at 3 where the product is rounded up.
        some = min(max(1, math.ceil(self.share * last - 1e-9)), self.window)
        return [place % self.window for place in range(last - some + 1, last + 1)]

    def merge(self, other: Self) -> None:
        # Every step has a fixed slot, so later evaluations replace exactly those that they overwrite.
        self.ring = torch.where(other.ring[:, :1].isnan(), self.ring, other.ring)
        self.hit = torch.where(self.hit.isnan(), other.hit, self.hit)
        if other.evaluated:
            self.evaluated = other.evaluated

    def _set(self, name: str) -> Tensor:
        draws: Tensor = getattr(self.context.target, name)
        if not len(draws):
            raise ValueError(f"{self.name} needs the target's {name} draws, which are still empty")
        return draws.to(self.context.device)
