"""ULA: the unadjusted Langevin algorithm on the reals (Roberts and Tweedie 1996)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from samplers.continuous.mala import MALA
from samplers.hyperparameters import AUTO, positive
from samplers.kernel import State
from samplers.metropolis_hastings import Unadjusted
from samplers.proposals.continuous_langevin import LangevinDiffusionProposal
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE
from targets.randomness import Generator
from targets.spaces import real_space
from targets.target import Target


class ULA(Unadjusted):
    """Takes every draw of `LangevinDiffusionProposal`; not exact, biased by its step size.

    On N(mu, s^2) at inverse temperature beta, with a = beta h / s^2, its stationary law is normal with mean
    mu and variance (s^2 / beta) / (1 - a / 2); it has none, and chains run away, where a is 2 or more.

    Args:
        step_size: h in y = x + h beta grad U + sqrt(2 h) xi, in squared state units, or ``"auto"``: the step
            size at which MALA would accept with probability `acceptance`, since ULA itself rejects nothing.
        acceptance: see `step_size`.
    """

    def __init__(self, step_size: float | str = AUTO, acceptance: float = OPTIMAL_ACCEPTANCE) -> None:
        self.step_size = positive("step_size", step_size, auto=True)
        self.adjusted = MALA(AUTO, acceptance)
        h = self.step_size if self.step_size is not None else torch.ones((), dtype=torch.float64)
        super().__init__(LangevinDiffusionProposal(h))

    def check(self, target: Target) -> None:
        real_space("ula", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        if self.untuned:
            raise ValueError("step_size of ULA must be tuned before a run, 'auto' was given")
        return super().init(target, theta, beta)

    def with_step_size(self, step_size: Tensor) -> Unadjusted:
        """The same kernel at a step size that broadcasts over the batch axes."""
        return Unadjusted(LangevinDiffusionProposal(step_size))

    @property
    def untuned(self) -> tuple[str, ...]:
        return () if self.step_size is not None else ("step_size",)

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        self.check(target)
        return self.adjusted.tune(target, generator)

    def tuned(self, hyperparameters: Mapping[str, Any]) -> ULA:
        return ULA(hyperparameters["step_size"], self.adjusted.acceptance)
