"""The covariances of a mixture's components: one number, one for each, one matrix, or a matrix for each."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def table(key: str, given: Any) -> Tensor:
    """A number, or nested lists of numbers, as a float64 tensor.

    Raises:
        ValueError: if it holds anything but finite numbers, or lists of unequal length.
    """
    try:
        values = torch.as_tensor(given, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{key} must hold numbers in lists of equal length, {given!r} was given") from None
    if not bool(values.isfinite().all()):
        raise ValueError(f"{key} must hold finite numbers, {given!r} was given")
    return values


def covariances(given: Any, components: int, d: int) -> Tensor:
    """Variances ``(1,)`` or ``(components,)``, or matrices ``(1, d, d)`` or ``(components, d, d)``; float64.

    Args:
        given: a variance that all components share, one for each, a matrix that they share, or one for each.

    Raises:
        ValueError: if it has another shape or is not positive definite.
    """
    values = table("covariance", given)
    if values.shape not in ((), (components,), (d, d), (components, d, d)):
        raise ValueError(
            f"covariance must be one number or {components} of them, a {d} x {d} matrix or {components} of "
            f"them, to fit the means, {given!r} was given"
        )
    if not _positive_definite(values):
        raise ValueError(f"covariance must be positive definite, {given!r} was given")
    return values.unsqueeze(0) if values.dim() in (0, 2) else values


def _positive_definite(values: Tensor) -> bool:
    """Whether all variances are positive and all matrices symmetric with positive eigenvalues."""
    if values.dim() < 2:
        return bool((values > 0).all())
    if not torch.allclose(values, values.mT, rtol=1e-9, atol=0.0):
        return False
    eigenvalues = torch.linalg.eigvalsh(values)
    # Rounding errors of this size make the zero eigenvalues of a singular matrix positive or negative.
    rounding = values.shape[-1] * torch.finfo(values.dtype).eps * eigenvalues.abs().amax(-1)
    return bool((eigenvalues[..., 0] > rounding).all())
