"""The inverse spectral gap of a sparse reversible generator: one eigenvalue, by two methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg, splu

from metrics.diffusion.reversible_generator import ReversibleGenerator

Array = NDArray[np.float64]

BLOCK = 4
"""Block size of LOBPCG: the smallest eigenvalues of symmetric targets come in close pairs."""

ROUNDING = 1e-2
"""Largest relative rounding error with which an inverse gap is returned."""

ITERATIONS = 600
RESIDUAL = 1e-5


def factorised_inverse_gap(generator: ReversibleGenerator) -> float:
    """kappa = 1 / gap of `generator`, by Lanczos on its pseudo-inverse from a sparse factorisation.

    The most probable state is removed, which makes the symmetric matrix positive definite, and constants are
    projected out. For chains whose graph is planar or nearly so.

    Raises:
        ValueError: if the chain is reducible, or kappa is too large for float64.
    """
    require_connected(generator)
    root, matrix = generator.root(), generator.symmetric().tocsc()
    others = np.delete(np.arange(generator.size), int(np.argmax(root)))
    factor = splu(
        matrix[others][:, others].tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )

    def apply(vector: Array) -> Array:
        flat = vector.ravel()
        flat = flat - root * (root @ flat)
        solved = np.zeros_like(flat)
        solved[others] = factor.solve(flat[others])
        return np.asarray(solved - root * (root @ solved))

    operator = LinearOperator(matrix.shape, matvec=apply, dtype=np.float64)
    start = apply(np.random.default_rng(0).standard_normal(generator.size) * root)
    # By largest modulus, so that an eigenvalue that rounding has made negative is found, and refused.
    kappa = float(eigsh(operator, k=1, which="LM", v0=start, tol=1e-10, return_eigenvectors=False)[0])
    _require_precise(generator, kappa)
    return kappa


def preconditioned_inverse_gap(
    generator: ReversibleGenerator, precondition: Callable[[Array], Array]
) -> float:
    """kappa = 1 / gap of `generator`, by LOBPCG; nothing is factorised, so memory is a few dozen vectors.

    Args:
        generator: a chain in any number of dimensions.
        precondition: an approximate inverse of its symmetric matrix, symmetric and positive definite,
            ``(states, block)`` to the same shape.

    Raises:
        ValueError: if the chain is reducible, the iteration does not converge, or kappa is too large.
    """
    require_connected(generator)
    root, matrix = generator.root(), generator.symmetric()
    block = min(BLOCK, generator.size // 5)
    start = precondition(np.random.default_rng(0).standard_normal((generator.size, block)) * root[:, None])
    operator = LinearOperator(matrix.shape, matvec=precondition, matmat=precondition, dtype=np.float64)
    # The tolerance must scale with the eigenvalue, which a first rough run estimates.
    value, vectors = 1.0, start
    for tolerance, iterations in ((1e-2, 40), (None, ITERATIONS)):
        wanted = tolerance if tolerance is not None else 0.1 * RESIDUAL * value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            values, vectors = lobpcg(
                matrix, vectors, M=operator, Y=root[:, None], tol=wanted, maxiter=iterations, largest=False
            )
        value = float(np.min(values))
    slowest = vectors[:, int(np.argmin(values))]
    residual = float(np.linalg.norm(matrix @ slowest - value * slowest) / np.linalg.norm(slowest))
    if not 0.0 < value < np.inf or residual > 100 * RESIDUAL * value:
        raise ValueError(
            f"the slowest mode was not found in {ITERATIONS} iterations: residual {residual:.1e} at "
            f"eigenvalue {value:.1e}"
        )
    _require_precise(generator, 1.0 / value)
    return 1.0 / value


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


def rounding_error(generator: ReversibleGenerator, kappa: float) -> float:
    """Relative error of `kappa` from the rounding of the matrix's entries, in order of magnitude."""
    mean_rate = float(np.exp(generator.log_pi) @ generator.leaving())
    return float(np.finfo(np.float64).eps * mean_rate * kappa)


def require_connected(generator: ReversibleGenerator) -> None:
    """Raises ValueError if the chain is reducible."""
    pieces, _ = connected_components(generator.edges, directed=False)
    if pieces > 1:
        raise ValueError(
            f"the states fall into {pieces} disconnected parts, so the gap is zero; cells of lower "
            "probability must be included (negligible)"
        )


def _require_precise(generator: ReversibleGenerator, kappa: float) -> None:
    if not 0.0 < rounding_error(generator, kappa) <= ROUNDING:
        raise ValueError(
            f"an inverse gap of {abs(kappa):.0e} or more is beyond float64 on {generator.size} states: "
            f"rounding alone makes an error above {ROUNDING:.0%}"
        )
