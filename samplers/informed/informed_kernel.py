"""What informed kernels share: how much each move of one coordinate changes U, exactly or by the gradient."""

from __future__ import annotations

from torch import Tensor

from samplers.kernel import Kernel, State, check_states, evaluate
from samplers.proposals.balancing_functions import BalancingFunction
from samplers.proposals.balancing_functions import balancing_function as found
from samplers.proposals.local_moves import DIFFERENCES
from targets.checks import one_of
from targets.spaces import level_space
from targets.target import SingleSiteDifferences, Target


class InformedKernel(Kernel):
    """A kernel that weighs the moves of single coordinates by g(t), t their ratios of tempered densities.

    Args:
        balancing_function: g, by name or path (`samplers.proposals.balancing_functions`).
        differences: where log t = beta [U(y) - U(x)] comes from: ``exact``, from targets that have
            `targets.target.SingleSiteDifferences`; ``gradient``, to first order; ``auto``, exact if possible.
    """

    exact = True

    def __init__(self, balancing_function: str | BalancingFunction, differences: str) -> None:
        self.balancing_function, self.function = balancing_function, found(balancing_function)
        self.differences = one_of("differences", differences, ("auto", "exact", "gradient"))

    @property
    def needs_gradient(self) -> bool:
        return self.differences != "exact"

    def check(self, target: Target) -> None:
        level_space(type(self).__name__, target.space)
        if self.differences == "exact" and not isinstance(target, SingleSiteDifferences):
            raise ValueError(
                f"differences must be 'gradient' or 'auto' for {type(target).__name__}, whose changes of U "
                "by one move are not known exactly, 'exact' was given"
            )

    def evaluated(self, target: Target, theta: Tensor) -> State:
        """The state at `theta` with what the ratios are computed from, by one evaluation of the target."""
        if self.differences == "gradient" or not isinstance(target, SingleSiteDifferences):
            return evaluate(target, theta, gradient=True)
        check_states(target, theta)
        log_prob, differences = target.log_prob_and_differences(theta)
        return State(theta, log_prob, aux={DIFFERENCES: differences})
