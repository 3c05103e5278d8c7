"""The most likely state of a run: what a user wants of a sampler that searches."""

from __future__ import annotations

import math
from typing import Any, Self

import torch
from torch import Tensor

from metrics.metric import Context, Metric, Statistic
from samplers.kernel import Info
from targets.spaces import Discrete


class BestStates(Statistic):
    """The most likely draw of each chain, the first of equal ones; costs an evaluation of U a step.

    Attributes:
        log_prob: its U, ``(seeds, chains)``; minus infinity before the first draw.
        state: ``(seeds, chains, *event_shape)``.
        step: that it was drawn in, ``(seeds, chains)``, int64.
    """

    saved = ("log_prob", "state", "step")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        shape, like = (context.seeds, context.chains), context.target.like().to(context.device)
        self.log_prob = like.new_full(shape, -torch.inf)
        self.state = like.new_zeros((*shape, *context.target.space.event_shape))
        self.step = torch.zeros(shape, dtype=torch.int64, device=context.device)

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        self._offer(self.context.target.log_prob(theta), theta, torch.full_like(self.step, step))

    def merge(self, other: Self) -> None:
        self._offer(
            other.log_prob.to(self.log_prob), other.state.to(self.state), other.step.to(self.step.device)
        )

    def of_run(self, place: int) -> dict[str, Any]:
        """The best draw of the run at `place` of its batch, the first of equal ones.

        Returns:
            ``state`` ``(*event_shape)``, of a discrete space its levels ``(d,)``; its U ``log_prob``, and the
            ``step`` and ``chain`` that drew it.
        """
        chain = int(self.first()[1][place])
        state, space = self.state[place, chain], self.context.target.space
        best = space.to_levels(state) if isinstance(space, Discrete) else state
        log_prob, step = self.log_prob[place, chain].item(), self.step[place, chain].item()
        return {"state": best.cpu().numpy(), "log_prob": log_prob, "step": step, "chain": chain}

    def first(self) -> tuple[Tensor, Tensor]:
        """Step and chain of the best draw of each seed, ``(seeds,)``."""
        best = self.log_prob == self.log_prob.amax(-1, keepdim=True)
        return torch.where(best, self.step, torch.iinfo(torch.int64).max).min(-1)

    def _offer(self, log_prob: Tensor, theta: Tensor, step: Tensor) -> None:
        better = log_prob > self.log_prob
        event = better.reshape(*better.shape, *(1,) * (theta.dim() - better.dim()))
        self.state = torch.where(event, theta, self.state)
        self.step = torch.where(better, step, self.step)
        self.log_prob = torch.where(better, log_prob, self.log_prob)


class BestLogProb(Metric):
    """U of the most likely draw of all chains. The draw itself is in ``best.npz`` in the run's folder.

    Chains that move between temperatures are looked at on every level; of replicas those of the cold one are.

    Values, one per seed:
        best_log_prob: the largest U.
        best_log_prob_step: the step of the first draw that has it.
    """

    name = "best_log_prob"
    unit = "nats"
    bounds = (-math.inf, math.inf)
    direction = "max"
    supports_levels = True
    needs_draws = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.best = context.statistic(BestStates)

    def result(self) -> dict[str, Tensor]:
        step, _ = self.best.first()
        return {self.name: self.best.log_prob.amax(-1).double(), "best_log_prob_step": step.double()}
