"""Any function from states to log densities as a target."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from targets.spaces import Space
from targets.target import Target


class FunctionTarget(Target):
    """U(theta) = ``function(theta)`` on `space`; the gradient is that of automatic differentiation.

    Args:
        function: from states ``(*batch, *event_shape)`` to log densities ``(*batch)``, any number of batch
            axes; a module's parameters decide the dtype and device.
        space: of the states.

    Raises:
        TypeError: if `function` cannot be called, or `space` is no `targets.spaces.Space`.
    """

    batch_invariant = False  # nobody knows what the function multiplies
    by_seed = ("log_prob", "log_prob_and_grad")

    def __init__(self, function: Callable[[Tensor], Tensor], space: Space) -> None:
        super().__init__()
        if not callable(function):
            raise TypeError(
                f"function must be a function from states to log densities, {function!r} was given"
            )
        if not isinstance(space, Space):
            raise TypeError(f"space must be a space such as targets.Binary(10), {space!r} was given")
        self.function, self.space = function, space

    def log_prob(self, theta: Tensor) -> Tensor:
        return self.function(theta)
