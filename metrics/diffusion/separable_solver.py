"""Inverse of a sum of operators that each act on one axis, by diagonalising each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class SeparableSolver:
    """(A_0 x I x .. + I x A_1 x .. + .. + shift)^-1 for symmetric positive semidefinite A_k.

    The generator of replicas without swaps is such a sum, and swaps add at most a few times their intensity.
    So this approximates the inverse of a replica-exchange generator within a small factor on any grid (fast
    diagonalisation: Lynch, Rice and Thomas 1964). It preconditions the eigensolver.

    Args:
        parts: A_k, dense ``(m_k, m_k)``.
        shift: positive.
    """

    def __init__(self, parts: Sequence[Array], shift: float) -> None:
        values, self.modes = zip(*(np.linalg.eigh(part) for part in parts), strict=True)
        self.shape = tuple(len(part) for part in parts)
        total = np.full(self.shape, shift)
        for axis, along in enumerate(values):
            # Rounding leaves the zero eigenvalue a little below zero.
            total += along.clip(min=0.0).reshape(-1, *(1,) * (len(self.shape) - 1 - axis))
        self.inverse = 1.0 / total

    def __call__(self, vectors: Array) -> Array:
        """Applied to one vector ``(states,)`` or to the columns of ``(states, n)``."""
        columns = vectors.reshape(len(vectors), -1)
        solved = np.stack([self._solve(column) for column in columns.T], axis=1)
        return solved.reshape(vectors.shape)

    def _solve(self, vector: Array) -> Array:
        cube = vector.reshape(self.shape)
        for axis, modes in enumerate(self.modes):
            cube = np.moveaxis(np.tensordot(modes.T, cube, axes=(1, axis)), 0, axis)
        cube = cube * self.inverse
        for axis, modes in enumerate(self.modes):
            cube = np.moveaxis(np.tensordot(modes, cube, axes=(1, axis)), 0, axis)
        return np.ascontiguousarray(cube).ravel()
