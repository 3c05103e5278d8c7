"""What the Ising and the Potts model share: interactions of pairs, and log Z where it is known."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from targets.lattice.interactions import Interactions, Torus
from targets.lattice.transfer_matrix import MOST_ROWS, transfer_log_partition
from targets.multilinear import Multilinear
from targets.target import PairwiseTerms

LISTED = 2**16
"""Most states whose log densities are added up for log Z."""


class LatticeModel(Multilinear):
    """Sites that interact in pairs on a lattice or a graph.

    Attributes:
        interactions: the edges with their couplings.
    """

    interactions: Interactions

    @abstractmethod
    def pairwise_terms(self) -> PairwiseTerms:
        """The edges, couplings and fields of `targets.target.PairwiseInteractions`."""

    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        """log sum exp(beta U), exact, a scalar, float64; its derivatives in beta are moments of U.

        By transfer matrices on two-dimensional lattices with a narrow side, and by adding up all states of
        any other small model.

        Raises:
            ValueError: if the model is too large for both.
        """
        terms = self.pairwise_terms()
        beta = torch.as_tensor(beta, dtype=torch.float64, device=terms.field.device)
        sides = self.interactions.sides if isinstance(self.interactions, Torus) else ()
        if self.space.size <= LISTED:
            return (beta * self.log_prob(self.space.states().to(beta))).logsumexp(0)
        if len(sides) != 2 or self.space.levels ** min(sides) > MOST_ROWS:
            raise ValueError(
                f"log Z of {type(self).__name__} is known for strips with at most {MOST_ROWS} states of a "
                f"row and for at most {LISTED} states in all, one of {self.space.d} sites with "
                f"{self.space.levels} levels was given"
            )
        couplings, field = terms.couplings.reshape(2, *sides), terms.field.reshape(*sides, -1)
        if sides[0] < sides[1]:
            couplings, field = couplings.transpose(1, 2).flip(0), field.transpose(0, 1)
        return transfer_log_partition(couplings, field, beta) + beta * terms.constant.double()
