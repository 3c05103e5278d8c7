"""The exact distribution of a coordinate of theta_a: a mixture of normal distributions (EDLP, Figure 4).

Under the joint distribution exp{U(theta) - |theta - theta_a|^2 / (2 eta)} each coordinate of theta_a is
normal around that of theta with variance eta, so that all coordinates together are such a mixture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from metrics.requirements import enumerable
from targets.spaces import Discrete
from targets.target import Enumerable, Target

LISTED = 2**16
"""Most states whose coordinates are counted."""


@dataclass(frozen=True)
class AuxiliaryMixture:
    """Normal distributions of variance eta around the values of theta's coordinates.

    Attributes:
        values: the different values, ``(values,)``, float64.
        weights: the share of each in all coordinates under the target, ``(values,)``; they sum to 1.
        eta: the variance.
    """

    values: Tensor
    weights: Tensor
    eta: float

    def shares(self, edges: Tensor) -> Tensor:
        """Probabilities below the `edges` ``(n,)``, between each two, and above, ``(n + 1,)``."""
        below = torch.special.ndtr((edges.unsqueeze(-1) - self.values) / math.sqrt(self.eta)) @ self.weights
        ends = below.new_tensor([0.0, 1.0])
        return torch.cat([ends[:1], below, ends[1:]]).diff()


def auxiliary_mixture(target: Target, eta: float) -> AuxiliaryMixture | None:
    """The mixture of a target of at most 65,536 states that can be listed; None of any other."""
    if not enumerable(target) or cast(Discrete, target.space).size > LISTED:
        return None
    states = cast(Discrete, target.space).states().flatten(1)
    probabilities = cast(Enumerable, target).probabilities().double().cpu()
    values, places = states.unique(return_inverse=True)  # type: ignore[no-untyped-call]
    shares = (probabilities / states.shape[1]).unsqueeze(-1).expand(states.shape)
    weights = torch.zeros_like(values).index_add_(0, places.flatten(), shares.flatten())
    return AuxiliaryMixture(values, weights, eta)
