"""The draws themselves, thinned to a given number: for whoever wants more than the metrics."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from metrics.metric import Context
from metrics.statistics.bits import packed, unpacked
from metrics.statistics.thinned_series import ThinnedSeries
from targets.spaces import Binary, Discrete


class KeptDraws(ThinnedSeries):
    """At most `most` draws of a chain, evenly spaced behind the burn-in, ``(draws, seeds, chains, *event)``.

    Binary states are kept as bits, other discrete ones as levels, a byte each where that is enough: ``event``
    is then ``(ceil(d / 8),)`` or ``(d,)``.

    Args:
        most: draws of a chain at most.
        burn_in: the step after which draws begin.
        steps: the last step.
    """

    def __init__(self, context: Context, most: int, burn_in: int, steps: int) -> None:
        space, like = context.target.space, context.target.like()
        self.space = space if isinstance(space, Discrete) else None
        event, dtype = space.event_shape, like.dtype
        if self.space is not None:
            event, dtype = (self.space.d,), torch.uint8 if self.space.levels <= 256 else torch.int32
        if isinstance(space, Binary):
            event = (-(-space.d // 8),)
        self.start, stride = burn_in, -(-(steps - burn_in) // most)
        capacity = (steps - burn_in) // stride
        super().__init__(context, (context.seeds, context.chains, *event), dtype, capacity, stride)

    def value(self, step: int, theta: Tensor) -> Tensor:
        if isinstance(self.space, Binary):
            return packed(theta)
        return theta if self.space is None else self.space.to_levels(theta)

    def of_run(self, place: int) -> dict[str, Any]:
        """The draws of the run at `place` of its batch as NumPy arrays.

        Returns:
            ``theta`` ``(chain, draw, *event)``, U of these as ``lp`` ``(chain, draw)``, and the
            ``step`` of each ``(draw,)``.
        """
        kept = self.rows[:, place].movedim(1, 0)
        if isinstance(self.space, Binary):
            kept = unpacked(kept, self.space.d)
        like = self.context.target.like()
        states = kept.to(like) if self.space is None else self.space.from_levels(kept.long(), like.dtype)
        with torch.no_grad():
            log_prob = torch.stack([self.context.target.log_prob(draws) for draws in states.unbind(1)], 1)
        return {"theta": kept.cpu().numpy(), "lp": log_prob.cpu().numpy(), "step": list(self.steps)}
