"""DULA: the discrete unadjusted Langevin algorithm (Zhang, Liu and Liu 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from samplers.discrete.dmala import DMALA
from samplers.hyperparameters import AUTO, positive
from samplers.kernel import State
from samplers.metropolis_hastings import Unadjusted
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE
from targets.randomness import Generator
from targets.spaces import discrete_space
from targets.target import Target


class DULA(Unadjusted):
    """Takes every discrete Langevin proposal; not exact, biased by its step size.

    PT-DLP v2, Eqs. 2-4 without Eq. 6. Its stationary law is known in closed form only for log-quadratic
    targets; elsewhere enumerate it with `metrics.enumeration.transition_matrix`.

    Args:
        step_size: alpha in squared state units (p = 2), or ``"auto"``: the step size at which DMALA
            would accept with probability `acceptance`, since DULA itself rejects nothing.
        balancing: b in the proposal.
        norm: p of the regulariser.
        acceptance: see `step_size`.
    """

    def __init__(
        self,
        step_size: float | str = AUTO,
        balancing: float = 0.5,
        norm: float = 2.0,
        acceptance: float = OPTIMAL_ACCEPTANCE,
    ) -> None:
        self.step_size = positive("step_size", step_size, auto=True)
        self.adjusted = DMALA(AUTO, balancing, norm, acceptance)
        alpha = self.step_size if self.step_size is not None else torch.ones((), dtype=torch.float64)
        super().__init__(LangevinProposal(alpha, self.adjusted.balancing, self.adjusted.norm))

    def check(self, target: Target) -> None:
        discrete_space("dula", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        if self.untuned:
            raise ValueError("step_size of DULA must be tuned before a run, 'auto' was given")
        return super().init(target, theta, beta)

    def with_step_size(self, step_size: Tensor) -> Unadjusted:
        """The same kernel at a step size that broadcasts over the batch axes."""
        return Unadjusted(LangevinProposal(step_size, self.adjusted.balancing, self.adjusted.norm))

    @property
    def untuned(self) -> tuple[str, ...]:
        return () if self.step_size is not None else ("step_size",)

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        return self.adjusted.tune(target, generator)

    def tuned(self, hyperparameters: Mapping[str, Any]) -> DULA:
        adjusted = self.adjusted
        return DULA(hyperparameters["step_size"], adjusted.balancing, adjusted.norm, adjusted.acceptance)
