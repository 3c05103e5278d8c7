"""What the four entropic samplers share: their hyperparameters, their start, their tuning."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import torch
from torch import Tensor

from samplers.hyperparameters import AUTO, positive, within
from samplers.kernel import Kernel, State, evaluate
from samplers.proposals.entropic_langevin import THETA_A, EntropicLangevin
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE, tuned_alone
from targets.randomness import Generator
from targets.spaces import discrete_space
from targets.target import Target


class EntropicKernel(Kernel):
    """A kernel on theta and theta_a that is led by an `EntropicLangevin`; a subclass defines `step`.

    ``State.aux["theta_a"]`` holds theta_a, like theta. It starts at theta (EDLP, Algorithm 1).

    Args:
        step_size: alpha in squared state units, or ``"auto"``: tuned to `acceptance` in a pilot that is not
            recorded.
        eta: variance of theta_a around theta, in squared state units.
        auxiliary_step_size: alpha_a of theta_a; None where theta_a is drawn from its conditional.
        acceptance: the mean acceptance probability that tuning aims at.
    """

    def __init__(
        self,
        step_size: float | str,
        eta: float,
        auxiliary_step_size: float | None,
        acceptance: float = OPTIMAL_ACCEPTANCE,
    ) -> None:
        self.step_size = positive("step_size", step_size, auto=True)
        self.acceptance = within("acceptance", acceptance, 0.01, 0.99)
        # An untuned kernel is never stepped; it needs a proposal all the same to be built.
        alpha = self.step_size if self.step_size is not None else torch.ones((), dtype=torch.float64)
        self.proposal = EntropicLangevin(alpha, eta, auxiliary_step_size)

    @property
    def needs_gradient(self) -> bool:
        return True

    @property
    def carried(self) -> tuple[str, ...]:
        return (THETA_A,)

    def check(self, target: Target) -> None:
        discrete_space(type(self).__name__, target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        if self.untuned:
            name = type(self).__name__
            raise ValueError(f"step_size of {name} must be tuned before a run, {AUTO!r} was given")
        self.check(target)
        return replace(evaluate(target, theta, gradient=True), aux={THETA_A: theta.clone()})

    def with_step_size(self, step_size: Tensor) -> Self:
        """The same kernel at a step size that broadcasts over the batch axes."""
        other = copy.copy(self)
        other.step_size, other.proposal = step_size, self.proposal.with_step_size(step_size)
        return other

    @property
    def untuned(self) -> tuple[str, ...]:
        return () if self.step_size is not None else ("step_size",)

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        return tuned_alone(self, target, generator, self.acceptance)

    def tuned(self, hyperparameters: Mapping[str, Any]) -> Self:
        found = positive("step_size", hyperparameters["step_size"])
        assert found is not None
        return self.with_step_size(found)
