"""What kernels at inverse temperatures share: which kernels serve them, densities there and their ratio."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.kernel import Kernel, require_kernel


def require_temperable(given: Kernel) -> None:
    """Refuses a kernel that no tempering can be put around.

    Raises:
        TypeError: if it is no kernel.
        ValueError: if it is tempered already, or serves the inverse temperature 1 alone.
    """
    require_kernel(given)
    if given.axes or given.has_levels:
        raise ValueError(f"kernel must not be tempered already, {type(given).__name__} was given")
    if not given.temperable:
        raise ValueError(f"kernel must serve inverse temperatures below 1, {type(given).__name__} does not")


def tempered_log_prob(log_prob: Tensor, beta: Tensor | float) -> Tensor:
    """beta U, all broadcasting; minus infinity where the density is zero, also at beta = 0."""
    return (beta * log_prob).masked_fill(log_prob.isneginf(), -torch.inf)  # 0 times infinity is NaN


def tempered_log_ratio(before: Tensor, after: Tensor, beta: Tensor) -> Tensor:
    """beta [U(y) - U(x)], all ``(*batch)``.

    Minus infinity where y has density zero, also at beta = 0; else infinity where x has: a chain leaves it.
    """
    change = after - before
    ratio: Tensor = beta * change
    ratio.masked_fill_(change.isposinf(), torch.inf)  # 0 times infinity is NaN
    return ratio.masked_fill_(after.isneginf(), -torch.inf)


def along_first(values: Tensor, axes: int) -> Tensor:
    """`values` ``(K,)`` as a tensor of `axes` axes, ``(K, 1, .., 1)``: one number for each replica."""
    return values.reshape(-1, *(1,) * (axes - 1))
