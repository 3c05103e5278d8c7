"""Any function from states to log densities as a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from targets.randomness import Generator
from targets.spaces import Space
from targets.target import Target

TRIES = 1000
"""How often a starting state of density zero is drawn anew."""


class FunctionTarget(Target):
    """U(theta) = ``function(theta)`` on `space`; the gradient is that of automatic differentiation.

    Args:
        function: from states ``(*batch, *event_shape)`` to log densities ``(*batch)``, any number of batch
            axes; a module's parameters decide the dtype and device.
        space: of the states.
        constrained: True where the density can be zero, a log density of minus infinity. Unadjusted kernels
            then stay where they are instead of moving there, and starting states of density zero are drawn
            anew.

    Raises:
        TypeError: if `function` cannot be called, `space` is no `targets.spaces.Space`, or `constrained` is
            no truth value.
    """

    batch_invariant = False  # nobody knows what the function multiplies
    by_seed = ("log_prob", "log_prob_and_grad")

    def __init__(self, function: Callable[[Tensor], Tensor], space: Space, constrained: bool = False) -> None:
        super().__init__()
        if not callable(function):
            raise TypeError(
                f"function must be a function from states to log densities, {function!r} was given"
            )
        if not isinstance(space, Space):
            raise TypeError(f"space must be a space such as targets.Binary(10), {space!r} was given")
        if not isinstance(constrained, bool):
            raise TypeError(f"constrained must be True or False, {constrained!r} was given")
        self.function, self.space, self.constrained = function, space, constrained

    def log_prob(self, theta: Tensor) -> Tensor:
        return self.function(theta)

    def initial(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent starting states ``(*shape, *event_shape)``, of positive density if `constrained`.

        Raises:
            ValueError: if one had density zero `TRIES` times.
        """
        theta = super().initial(shape, generator)
        if not self.constrained:
            return theta
        for _ in range(TRIES):
            impossible = self.log_prob(theta).isneginf()
            if not bool(impossible.any()):
                return theta
            wide = impossible.reshape(impossible.shape + (1,) * len(self.space.event_shape))
            theta = torch.where(wide, super().initial(shape, generator), theta)
        raise ValueError(
            f"the function must have a positive density at some of {TRIES} states drawn from the space to "
            "start at, it had the log density -inf at all of them; a targets.Target with its own `initial` "
            "can start elsewhere"
        )
