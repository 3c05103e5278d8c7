"""What the four entropic samplers share: their hyperparameters and their start."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from samplers.hyperparameters import positive
from samplers.kernel import Kernel, State, evaluate
from samplers.metropolis_hastings import claims_exact
from samplers.proposals.entropic_langevin import THETA_A, EntropicLangevin
from targets.checks import positive_number
from targets.spaces import level_space
from targets.target import Target


class EntropicKernel(Kernel):
    """A kernel on theta and theta_a that moves by `EntropicLangevin`; a subclass defines `step`.

    ``State.aux["theta_a"]`` holds theta_a, like theta. `init` puts it at theta.

    Args:
        step_size: alpha in squared state units; a number, or a tensor that broadcasts over the batch axes.
        eta: variance of theta_a around theta, in squared state units.
        auxiliary_step_size: alpha_a of theta_a; None where theta_a is drawn from its conditional.
        adjusted: whether moves are accepted or rejected; the kernel is exact only if they are.

    Raises:
        ValueError: if a hyperparameter is not positive, or theta_a would diverge (`check_stable`).
    """

    exact = True

    def __init__(
        self, step_size: float | Tensor, eta: float, auxiliary_step_size: float | None, adjusted: bool
    ) -> None:
        self.step_size = positive("step_size", step_size)
        self.eta, self.auxiliary_step_size = positive_number("eta", eta), auxiliary_step_size
        if auxiliary_step_size is not None:
            self.auxiliary_step_size = positive_number("auxiliary_step_size", auxiliary_step_size)
            if not adjusted:
                check_stable(self.auxiliary_step_size, self.eta)
        self.proposal = EntropicLangevin(self.step_size, self.eta, self.auxiliary_step_size)
        self.adjusted, self.exact = adjusted, claims_exact(type(self), adjusted)

    @property
    def needs_gradient(self) -> bool:
        return True

    @property
    def persistent_aux(self) -> tuple[str, ...]:
        return (THETA_A,)

    def check(self, target: Target) -> None:
        level_space(type(self).__name__, target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        return replace(evaluate(target, theta, gradient=True), aux={THETA_A: theta.clone()})


def check_stable(auxiliary_step_size: float, eta: float) -> None:
    """Refuses alpha_a from 4 eta on where every move is taken.

    A step multiplies the gap theta - theta_a by 1 - alpha_a / (2 eta); from -1 on the gap grows without end.

    Raises:
        ValueError: if it is so.
    """
    if auxiliary_step_size >= 4.0 * eta:
        raise ValueError(
            f"auxiliary_step_size must be below 4 eta, which is {4.0 * eta:g}, where a sampler takes every "
            f"move, since theta_a would diverge otherwise, {auxiliary_step_size!r} was given"
        )
