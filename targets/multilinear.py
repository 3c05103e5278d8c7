"""Targets whose U is linear in every coordinate: the gradient gives all changes by one move exactly."""

from __future__ import annotations

from torch import Tensor

from targets.enumeration import enumerated_probabilities
from targets.spaces import Binary, Discrete
from targets.target import Target


class Multilinear(Target):
    """U is linear in each bit, or in each one-hot vector, while the others stay.

    A subclass has a binary or a categorical space. Kernels that look at a first-order change of U find the
    exact one.
    """

    space: Discrete

    def log_prob_and_differences(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U ``(*batch)`` and its exact changes by one move, like `theta`; see `SingleSiteDifferences`."""
        log_prob, grad = self.log_prob_and_grad(theta)
        if isinstance(self.space, Binary):
            return log_prob, (1.0 - 2.0 * theta) * grad
        return log_prob, grad - (grad * theta).sum(-1, keepdim=True)

    def probabilities(self) -> Tensor:
        """Exact probabilities of all states, ``(size,)``, float64, for small spaces.

        Raises:
            ValueError: if there are too many states to list.
        """
        return enumerated_probabilities(self)
