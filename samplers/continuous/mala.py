"""MALA: the Metropolis-adjusted Langevin algorithm on the reals (Roberts and Tweedie 1996)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import AUTO, positive, within
from samplers.kernel import State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.continuous_langevin import LangevinDiffusionProposal
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE, tuned_alone
from targets.randomness import Generator
from targets.spaces import real_space
from targets.target import Target


class MALA(MetropolisHastings):
    """Metropolis-Hastings with `LangevinDiffusionProposal`; exact, one gradient a step.

    Args:
        step_size: h in y = x + h beta grad U + sqrt(2 h) xi, in squared state units, or ``"auto"``: tuned to
            `acceptance` in a pilot that is not recorded.
        acceptance: the mean acceptance probability that tuning aims at; 0.574 is optimal in high dimension
            (Roberts and Rosenthal 1998).
    """

    def __init__(self, step_size: float | str = AUTO, acceptance: float = OPTIMAL_ACCEPTANCE) -> None:
        self.step_size = positive("step_size", step_size, auto=True)
        self.acceptance = within("acceptance", acceptance, 0.01, 0.99)
        # An untuned kernel is never stepped; it needs a proposal all the same to be built.
        h = self.step_size if self.step_size is not None else torch.ones((), dtype=torch.float64)
        super().__init__(LangevinDiffusionProposal(h))

    def check(self, target: Target) -> None:
        real_space("mala", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        if self.untuned:
            raise ValueError("step_size of MALA must be tuned before a run, 'auto' was given")
        return super().init(target, theta, beta)

    def with_step_size(self, step_size: Tensor) -> MetropolisHastings:
        """The same kernel at a step size that broadcasts over the batch axes."""
        return MetropolisHastings(LangevinDiffusionProposal(step_size))

    @property
    def untuned(self) -> tuple[str, ...]:
        return () if self.step_size is not None else ("step_size",)

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        self.check(target)
        return tuned_alone(self, target, generator, self.acceptance)

    def tuned(self, hyperparameters: Mapping[str, Any]) -> MALA:
        return MALA(hyperparameters["step_size"], self.acceptance)
