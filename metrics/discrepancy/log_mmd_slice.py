"""ln MMD^2 of the released code's "time slice": draws along the run against the reference sample."""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.metric import Context, Metric
from metrics.statistics.thinned_series import ThinnedSeries
from metrics.two_sample.reference_sample import ReferenceSample, require_reference
from targets.checks import whole_number, within

CHOICES = 4096
"""The random choice of a chain is drawn in advance for this many steps, and then repeats."""


class TimeSlice(ThinnedSeries):
    """The state of one random chain of each seed at every `every` steps, ``(rows, seeds, d)``, uint8.

    Args:
        every: steps between stored states.
        draws: maximum number of stored states; when it is reached, every other state is dropped
            (`metrics.statistics.thinned_series`).
    """

    def __init__(self, context: Context, every: int, draws: int) -> None:
        self.every, self.d = every, context.target.space.d
        super().__init__(context, (context.seeds, self.d), torch.uint8, draws, every)
        draw = context.streams("time slice").uniform((context.seeds, 1), (CHOICES,), torch.float64)
        self.chain = (draw[:, 0] * context.chains).long().clamp_(max=context.chains - 1).to(context.device)

    def value(self, step: int, theta: Tensor) -> Tensor:
        picked = self.chain[:, step // self.every % CHOICES].reshape(-1, 1, 1).expand(-1, 1, self.d)
        return theta.gather(1, picked).squeeze(1)


class LogMMDSlice(Metric):
    """ln MMD^2 (V-statistic) of the states of one random chain along the run, against the reference sample.

    With 10,000 steps these are 1,800 draws against 500. Draws from before convergence increase it and the
    larger number of draws lowers its floor, so it cannot be compared with `log_mmd`. All stored draws are
    compared at each recorded step.

    Args:
        every: steps between draws.
        draws: maximum number of stored draws.
        skip: fraction of the steps so far, from the first, that is left out.
        references: number of reference draws.

    Raises:
        UnsupportedMetric: if the target is not binary or has no attribute for a reference sample.
    """

    name = "log_mmd_slice"
    unit = "ln squared distance"
    direction = "min"

    def __init__(
        self,
        context: Context,
        every: int = 5,
        draws: int = 2000,
        skip: float = 0.1,
        references: int = 500,
    ) -> None:
        super().__init__(context)
        require_reference(self.name, context)
        self.skip = within("metric.log_mmd_slice.skip", skip, 0.0, 0.9)
        self.references = whole_number("metric.log_mmd_slice.references", references, 2)
        self.slice = context.statistic(
            TimeSlice,
            every=whole_number("metric.log_mmd_slice.every", every),
            draws=whole_number("metric.log_mmd_slice.draws", draws, 2),
        )

    def result(self) -> dict[str, Tensor]:
        steps = self.slice.steps
        first = next((place for place, step in enumerate(steps) if step > self.skip * steps[-1]), 0)
        seeds = self.context.seeds
        if not steps:
            unknown = torch.full((seeds,), torch.nan, dtype=torch.float64, device=self.context.device)
            return {self.name: unknown}
        reference: Tensor = self.context.target.reference  # type: ignore[assignment]
        sample = ReferenceSample(reference.to(self.context.device), self.references)
        kept = self.slice.rows[first:]
        return {self.name: torch.stack([sample.log_mmd(kept[:, seed]) for seed in range(seeds)])}
