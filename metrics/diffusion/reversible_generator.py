"""A reversible continuous-time Markov chain on finitely many states, kept in log space."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReversibleGenerator:
    """The chain that jumps from i to j at rate ``edges[i, j] * sqrt(law[j] / law[i])``.

    Any symmetric `edges` give a chain in detailed balance with `law`: the flow between i and j is
    ``edges[i, j] * sqrt(law[i] * law[j])`` both ways. Jumps per unit of time.

    Attributes:
        log_law: log of the stationary law, ``(states,)``, normalised.
        edges: symmetric, non-negative, zero diagonal, CSR ``(states, states)``.
    """

    log_law: Array
    edges: sparse.csr_matrix

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.log_law)

    def jump_rates(self) -> sparse.csr_matrix:
        """Rates of the jumps, CSR with the pattern of `edges`; the diagonal is empty."""
        source = np.repeat(np.arange(self.size), np.diff(self.edges.indptr))
        ratio = np.exp(0.5 * (self.log_law[self.edges.indices] - self.log_law[source]))
        rates = self.edges.copy()
        rates.data = rates.data * ratio
        return rates

    def leaving(self) -> Array:
        """Rate at which each state is left, ``(states,)``."""
        return np.asarray(self.jump_rates().sum(axis=1), dtype=np.float64).ravel()

    def matrix(self) -> sparse.csr_matrix:
        """The generator Q: jump rates, and on the diagonal what makes rows sum to zero."""
        return (self.jump_rates() - sparse.diags(self.leaving())).tocsr()

    def symmetric(self) -> sparse.csr_matrix:
        """``-sqrt(law) Q / sqrt(law)``: symmetric, positive semidefinite, with null vector sqrt(law)."""
        return (sparse.diags(self.leaving()) - self.edges).tocsr()

    def root(self) -> Array:
        """sqrt(law), of length one."""
        values: Array = np.exp(0.5 * self.log_law)
        return values / np.linalg.norm(values)

    def restricted(self, kept: NDArray[np.bool_]) -> tuple[ReversibleGenerator, float]:
        """The chain that may not leave the states `kept` ``(states,)``, and the mass that they hold.

        Jumps out of them are struck and the rows closed again: its Dirichlet form is the restricted one of
        STMH, Definition 1, over the mass.
        """
        log_mass = float(logsumexp(self.log_law[kept]))
        edges = self.edges[kept][:, kept].tocsr()
        part = replace(self, log_law=self.log_law[kept] - log_mass, edges=edges)
        return part, float(np.exp(log_mass))
