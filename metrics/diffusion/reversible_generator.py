"""A reversible continuous-time Markov chain on finitely many states, with log probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReversibleGenerator:
    """The chain that jumps from i to j at rate ``edges[i, j] * sqrt(pi[j] / pi[i])``, per unit of time.

    With symmetric `edges` it satisfies detailed balance with respect to pi: the flow between i and j is
    ``edges[i, j] * sqrt(pi[i] * pi[j])`` in both directions.

    Attributes:
        log_pi: log of the stationary distribution, ``(states,)``, normalised.
        edges: symmetric, non-negative, zero diagonal, CSR ``(states, states)``.
    """

    log_pi: Array
    edges: sparse.csr_matrix

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.log_pi)

    def jump_rates(self) -> sparse.csr_matrix:
        """Rates of the jumps, CSR with the pattern of `edges`; the diagonal is empty."""
        source = np.repeat(np.arange(self.size), np.diff(self.edges.indptr))
        ratio = np.exp(0.5 * (self.log_pi[self.edges.indices] - self.log_pi[source]))
        rates = self.edges.copy()
        rates.data = rates.data * ratio
        return rates

    def leaving(self) -> Array:
        """Total jump rate out of each state, ``(states,)``."""
        return np.asarray(self.jump_rates().sum(axis=1), dtype=np.float64).ravel()

    def matrix(self) -> sparse.csr_matrix:
        """The generator Q: jump rates, with a diagonal such that rows sum to zero."""
        return (self.jump_rates() - sparse.diags(self.leaving())).tocsr()

    def symmetric(self) -> sparse.csr_matrix:
        """``-sqrt(pi) Q / sqrt(pi)``: symmetric, positive semidefinite, with null vector sqrt(pi)."""
        return (sparse.diags(self.leaving()) - self.edges).tocsr()

    def root(self) -> Array:
        """sqrt(pi), of length one."""
        values: Array = np.exp(0.5 * self.log_pi)
        return values / np.linalg.norm(values)

    def restricted(self, kept: NDArray[np.bool_]) -> tuple[ReversibleGenerator, float]:
        """The chain confined to the states `kept` (bool, ``(states,)``), and their total probability.

        Jumps out of them are removed: its Dirichlet form is the restricted form of STMH, Definition 1,
        divided by this probability.
        """
        log_mass = float(logsumexp(self.log_pi[kept]))
        edges = self.edges[kept][:, kept].tocsr()
        part = replace(self, log_pi=self.log_pi[kept] - log_mass, edges=edges)
        return part, float(np.exp(log_mass))
