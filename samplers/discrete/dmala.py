"""DMALA: the discrete Metropolis-adjusted Langevin algorithm (Zhang, Liu and Liu 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import AUTO, positive, within
from samplers.kernel import State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE, tuned_alone
from targets.randomness import Generator
from targets.spaces import discrete_space
from targets.target import Target


class DMALA(MetropolisHastings):
    """Metropolis-Hastings with the discrete Langevin proposal; exact, one gradient a step.

    PT-DLP v2, Eqs. 2 and 6. Every coordinate may move in one step.

    Args:
        step_size: alpha in squared state units (p = 2), or ``"auto"``: tuned to `acceptance` in a pilot
            that is not recorded.
        balancing: b in the proposal; 1/2 is locally balanced.
        norm: p of the regulariser |y - x|_p^p, from 1 to 8.
        acceptance: the mean acceptance probability that tuning aims at.
    """

    def __init__(
        self,
        step_size: float | str = AUTO,
        balancing: float = 0.5,
        norm: float = 2.0,
        acceptance: float = OPTIMAL_ACCEPTANCE,
    ) -> None:
        self.step_size = positive("step_size", step_size, auto=True)
        self.balancing = within("balancing", balancing, 0.0, 1.0)
        self.norm = within("norm", norm, 1.0, 8.0)
        self.acceptance = within("acceptance", acceptance, 0.01, 0.99)
        super().__init__(LangevinProposal(self._step_size_or_one(), self.balancing, self.norm))

    def _step_size_or_one(self) -> Tensor:
        # An untuned kernel is never stepped; it needs a proposal all the same to be built.
        return self.step_size if self.step_size is not None else torch.ones((), dtype=torch.float64)

    def check(self, target: Target) -> None:
        discrete_space("dmala", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        if self.untuned:
            raise ValueError("step_size of DMALA must be tuned before a run, 'auto' was given")
        return super().init(target, theta, beta)

    def with_step_size(self, step_size: Tensor) -> MetropolisHastings:
        """The same kernel at a step size that broadcasts over the batch axes."""
        return MetropolisHastings(LangevinProposal(step_size, self.balancing, self.norm))

    @property
    def untuned(self) -> tuple[str, ...]:
        return () if self.step_size is not None else ("step_size",)

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        return tuned_alone(self, target, generator, self.acceptance)

    def tuned(self, hyperparameters: Mapping[str, Any]) -> DMALA:
        return DMALA(hyperparameters["step_size"], self.balancing, self.norm, self.acceptance)
