"""Whether two steps from one state, on the same random numbers, are the same up to rounding."""

from __future__ import annotations

import torch

from samplers.kernel import State

OF_COORDINATES = 50_000
"""Coordinates of a chain of which one may take another value by rounding."""

FEW = 0.05
"""The share of chains that rounding alone lets differ at most."""


def share_differing(found: State, expected: State) -> float:
    """In what share of the chains the states differ by more than rounding."""
    same = torch.isclose(found.theta, expected.theta, rtol=1e-3, atol=1e-3, equal_nan=True)
    others = (~same).reshape(*expected.log_prob.shape, -1)
    different = others.sum(-1) > others.shape[-1] // OF_COORDINATES
    return float(different.double().mean())
