"""Langevin diffusion, ReLD and mReLD on a grid: reversible chains with the exact stationary distribution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

from metrics.diffusion.reversible_generator import ReversibleGenerator
from targets import Real, Target

Array = NDArray[np.float64]

NEGLIGIBLE = 1e-40
"""Probability below which a cell is left out of a level."""

GIB = 2**30
PER_ENTRY = 40
"""Bytes per entry of the sparse matrix while it is assembled: its indices twice, and copies of it."""
PER_STATE = 400
"""Bytes per state: LOBPCG's blocks, and the vectors of probabilities."""
PER_DENSE = 40
"""Bytes per entry of a dense matrix that is diagonalised."""
PER_FILL = 24
"""Bytes per entry of a sparse factor."""


@dataclass(frozen=True)
class Level:
    """One replica: it moves at speed `tau` under pi_k proportional to pi^beta phi(x / scale).

    ReLD, Eq. 3 and 9, and Corollary 2; `scale` is the paper's M, infinite where there is no Gaussian term.
    """

    beta: float = 1.0
    tau: float = 1.0
    scale: float = math.inf

    def log_density(self, U: Array, cells: Array) -> Array:
        """log pi_k up to a constant at `cells` ``(n, d)``, of the target's `U` there ``(n,)``."""
        found: Array = self.beta * U - 0.5 * (cells**2).sum(-1) / self.scale**2
        return found


@dataclass(frozen=True)
class Grid:
    """`points` per axis, evenly spaced from -`box` to `box`, `d` axes; the last coordinate runs fastest."""

    points: int
    box: float
    d: int

    @property
    def spacing(self) -> float:
        """Distance h of neighbours."""
        return 2.0 * self.box / (self.points - 1)

    def cells(self) -> Array:
        """All grid points, ``(points ** d, d)``."""
        axis = np.linspace(-self.box, self.box, self.points)
        return np.stack(np.meshgrid(*[axis] * self.d, indexing="ij"), axis=-1).reshape(-1, self.d)

    def neighbours(self) -> sparse.csr_matrix:
        """1 between neighbours, 0 elsewhere, ``(points ** d, points ** d)``."""
        one, eye = np.ones(self.points - 1), sparse.identity(self.points)
        path = sparse.diags([one, one], [-1, 1])
        terms = [_kron([path if axis == k else eye for axis in range(self.d)]) for k in range(self.d)]
        return sum(terms[1:], terms[0]).tocsr()


@dataclass(frozen=True, eq=False)
class Replica:
    """One level on the grid.

    Attributes:
        cells: indices of the grid cells that are kept, increasing, ``(m,)``.
        chain: the chain of this replica on these cells.
    """

    cells: NDArray[np.int64]
    chain: ReversibleGenerator


def log_density(target: Target, grid: Grid) -> Array:
    """U at the grid's cells, float64.

    Raises:
        ValueError: if the target is not on the reals in the grid's dimension, or U is NaN somewhere.
    """
    if not isinstance(target.space, Real) or target.space.d != grid.d:
        raise ValueError(
            f"a grid in {grid.d} dimensions needs a target on Real({grid.d}), not {target.space}"
        )
    with torch.no_grad():
        values = target.log_prob(torch.from_numpy(grid.cells()).to(target.like().device, torch.float64))
    found: Array = values.double().cpu().numpy()
    if np.isnan(found).any() or not np.isfinite(found).any():
        raise ValueError("the target's log density is NaN, or nowhere finite, on the grid")
    return found


def replica(U: Array, level: Level, grid: Grid, negligible: float = NEGLIGIBLE) -> Replica:
    """The chain of one level, with nearest-neighbour rates (tau / h^2) sqrt(pi(x +- h) / pi(x)).

    Cells with a probability below `negligible` are left out; jumps to them and out of the domain are removed.
    """
    log_pi = level.log_density(U, grid.cells())
    log_pi = log_pi - logsumexp(log_pi)
    cells = np.flatnonzero(log_pi > math.log(negligible))
    edges = (grid.neighbours()[cells][:, cells] * (level.tau / grid.spacing**2)).tocsr()
    kept = log_pi[cells]
    return Replica(cells, ReversibleGenerator(kept - logsumexp(kept), edges))


def joined_replicas(replicas: Sequence[Replica], rho: float) -> ReversibleGenerator:
    """All replicas side by side, neighbours swapping at rate rho (1 ^ ratio) (ReLD, Eq. 4 and 5).

    States are the products of the replicas' cells, the last replica running fastest. Swaps into a cell that a
    level leaves out are left out too, as its probability is negligible.
    """
    shape = tuple(len(one.cells) for one in replicas)
    log_pi = reduce(lambda pi, one: np.add.outer(pi, one.chain.log_pi).ravel(), replicas, np.zeros(1))
    eyes = [sparse.identity(size) for size in shape]
    edges = sum(
        _kron([one.chain.edges if at == k else eye for at, eye in enumerate(eyes)])
        for k, one in enumerate(replicas)
    ).tocsr()
    for k in range(len(replicas) - 1):
        edges = edges + _swaps(replicas, k, log_pi, rho)
    return ReversibleGenerator(log_pi, edges.tocsr())


def _swaps(replicas: Sequence[Replica], k: int, log_pi: Array, rho: float) -> sparse.csr_matrix:
    """Edges between the states in which the replicas k and k + 1 have changed places."""
    shape = [len(one.cells) for one in replicas]
    _, at_cold, at_hot = np.intersect1d(replicas[k].cells, replicas[k + 1].cells, return_indices=True)
    chosen: list[NDArray[np.int64]] = [np.arange(size) for size in shape]
    chosen[k], chosen[k + 1] = at_cold, at_hot
    source = np.arange(math.prod(shape)).reshape(shape)[np.ix_(*chosen)]
    arrival = source.swapaxes(k, k + 1).ravel()
    source = source.ravel()
    moved = source != arrival
    source, arrival = source[moved], arrival[moved]
    # min(1, r) = sqrt(r) exp(-|log r| / 2), and the generator multiplies by sqrt(r).
    weight = rho * np.exp(-0.5 * np.abs(log_pi[arrival] - log_pi[source]))
    return sparse.csr_matrix((weight, (source, arrival)), shape=(len(log_pi), len(log_pi)))


def _kron(factors: Sequence[sparse.spmatrix]) -> sparse.csr_matrix:
    return reduce(lambda left, right: sparse.kron(left, right, format="csr"), factors)


def grid_bytes(cells: Sequence[int], d: int) -> float:
    """Bytes that the gap of replicas needs, with `cells[k]` cells and `d` coordinates for replica k."""
    states, replicas = math.prod(cells), len(cells)
    entries = states * (2 * d * replicas + replicas)
    if replicas == 1:
        # The factor of a planar graph has of the order of 8 n log2 n entries; twice that to be safe.
        return PER_ENTRY * entries + PER_FILL * 16 * states * math.log2(states + 2)
    return PER_ENTRY * entries + PER_STATE * states + PER_DENSE * sum(size**2 for size in cells)


def require_grid_fits(points: int, need: Callable[[int], float], limit: float) -> None:
    """Refuses a grid that needs more than `limit` GiB.

    Args:
        points: of the grid asked for, along an axis.
        need: number of bytes as a function of the number of points.

    Raises:
        ValueError: naming the largest grid that fits.
    """
    if need(points) <= limit * GIB:
        return
    low, high = 2, points
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if need(middle) <= limit * GIB else (low, middle)
    raise ValueError(
        f"grid={points} points an axis need about {need(points) / GIB:.1f} GiB, more than memory={limit:g}; "
        f"grid={low} would fit"
    )
