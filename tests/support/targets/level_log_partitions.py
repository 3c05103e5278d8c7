"""The log partition function of a small target at each of several inverse temperatures."""

from __future__ import annotations

from torch import Tensor

from metrics.enumeration.transition_matrix import enumerable_space
from targets import Target


def level_log_partitions(target: Target, betas: Tensor) -> Tensor:
    """log Z_i = log sum_theta exp(beta_i U(theta)) for `betas` ``(L,)``, float64.

    Raises:
        ValueError: for a space that cannot be enumerated.
    """
    energy = target.log_prob(enumerable_space(target).states()).double()
    return (betas.double().unsqueeze(-1) * energy).logsumexp(-1)
