"""PAS: the path auxiliary sampler (Sun et al. 2022), in its fast form."""

from __future__ import annotations

import copy
import math

from torch import Tensor

from samplers.hyperparameters import positive
from samplers.informed.path_kernel import PathKernel
from samplers.kernel import State
from samplers.proposals.balancing_functions import BalancingFunction
from targets.randomness import Generator, uniform
from targets.target import Target


class PAS(PathKernel):
    """Makes a path of single moves of random length, about `radius` on average, and accepts it as a whole.

    The length is 1 + floor((2 R - 1) u) with u uniform on [0, 1): for a whole number R uniform on
    1 .. 2 R - 1, and otherwise in between, so that R can be tuned; its mean is R where 2 R is a whole number,
    and else at most 0.09 above. It does not depend on the state. Lengths above the dimension are set to it,
    which lowers the mean where 2 R - 1 exceeds it.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: Sun et al. (2022), PAFS; without replacement Sun, Dai and Schuurmans (2022), Eqs. 4 and 5 and
        Algorithm 1. The paths of DISCS (`PAFSNoReplacement`) all have the rounded radius.

    Args:
        radius: R, from 1 to the dimension; a number, or a tensor that broadcasts over the batch axes.
        replacement: whether a coordinate may move more than once in a path.
        balancing_function: g: ``sqrt``, ``barker``, ``min``, ``max``, or the path of a function.
        differences: ``exact``, ``gradient``, or ``auto``: exact where the target has them.
    """

    step_name = "radius"

    def __init__(
        self,
        radius: float | Tensor,
        replacement: bool = False,
        balancing_function: str | BalancingFunction = "sqrt",
        differences: str = "auto",
    ) -> None:
        super().__init__(balancing_function, differences, replacement)
        self.radius = positive("radius", radius)
        self._smallest, self._largest = 1.0, math.inf
        if self.radius.device.type == "cpu":  # elsewhere looking at it would wait for the device
            radii = self.radius.numpy()
            self._smallest, self._largest = float(radii.min()), float(radii.max())
        if self._smallest < 1.0:
            raise ValueError(f"radius must be a number of at least 1, {self._smallest:g} was given")

    def resized(self, radius: Tensor) -> PAS:
        """The same kernel with some of the radii that it was built with: the longest path stays.

        How many random numbers a step draws then depends neither on where chains stand nor on their company.
        """
        other = copy.copy(self)
        other.radius = radius
        return other

    def step_size_range(self, target: Target) -> tuple[float, float]:
        return 1.0, float(target.space.d)

    def check(self, target: Target) -> None:
        super().check(target)
        # A pilot's largest radius is the dimension but for rounding.
        if 1.001 * target.space.d < self._largest < math.inf:
            raise ValueError(
                f"radius must be at most {target.space.d}, the dimension, {self._largest:g} was given"
            )

    def longest(self, d: int) -> int:
        return min(d, math.ceil(2.0 * self._largest - 1.0) if self._largest < math.inf else d)

    def lengths(self, state: State, d: int, generator: Generator) -> Tensor:
        draws = uniform(generator, state.log_prob.shape, like=state.log_prob)
        lengths = 1.0 + (draws * (2.0 * self.radius - 1.0)).floor_()
        return lengths.clamp_(max=self.longest(d)).unsqueeze(-1)

    def length_probabilities(self, d: int) -> list[float]:
        most = 2.0 * float(self.radius) - 1.0
        shares = [max(0.0, min(1.0, most - length)) / most for length in range(math.ceil(most))]
        return [*shares[: d - 1], math.fsum(shares[d - 1 :])]
