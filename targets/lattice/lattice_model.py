"""What the Ising and the Potts model share: interactions of pairs, and log Z where it is known."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from targets.lattice.interactions import Interactions, Torus
from targets.lattice.transfer_draws import MOST_ROWS as MOST_DRAWN_ROWS
from targets.lattice.transfer_draws import StripDraws
from targets.lattice.transfer_matrix import MOST_ROWS, transfer_log_partition
from targets.multilinear import Multilinear
from targets.randomness import Generator
from targets.target import PairwiseTerms
from targets.versions import Versions

LISTED = 2**16
"""Most states whose log densities are added up for log Z."""


class LatticeModel(Multilinear):
    """Sites that interact in pairs on a lattice or a graph.

    Attributes:
        interactions: the edges with their couplings.
        sample: independent exact draws, as `targets.target.ExactlySampled` has it; of two-dimensional
            lattices whose narrow side has at most 256 states.
    """

    interactions: Interactions

    def offer_draws(self) -> None:
        """Sets `sample` where rows can be drawn: other instances are not `ExactlySampled`."""
        self._draws: StripDraws | None = None
        self._made_of = Versions()
        sides = self._plane()
        if sides and self.space.levels ** min(sides) <= MOST_DRAWN_ROWS:
            self.sample = self._sample

    def _sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent draws ``(*shape, *event_shape)``, by transfer matrices, kept while nothing changes."""
        if self._draws is None or not self._made_of.hold(self):
            self._draws, self._made_of = StripDraws(*self._strip(self.pairwise_terms())), Versions.of(self)
        levels = self._draws.sample(shape, generator)
        sides = self._plane()
        levels = levels.transpose(-1, -2) if sides[0] < sides[1] else levels
        return self.space.from_levels(levels.flatten(-2), self.like().dtype)

    def _plane(self) -> tuple[int, ...]:
        """The sides of a two-dimensional lattice; empty for any other."""
        sides = self.interactions.sides if isinstance(self.interactions, Torus) else ()
        return sides if len(sides) == 2 else ()

    def _strip(self, terms: PairwiseTerms) -> tuple[Tensor, Tensor]:
        """Couplings ``(2, length, width)`` and field ``(length, width, levels)``; the width is narrow."""
        sides = self._plane()
        couplings, field = terms.couplings.reshape(2, *sides), terms.field.reshape(*sides, -1)
        if sides[0] < sides[1]:
            couplings, field = couplings.transpose(1, 2).flip(0), field.transpose(0, 1)
        return couplings, field

    @abstractmethod
    def pairwise_terms(self) -> PairwiseTerms:
        """The edges, couplings and fields of `targets.target.PairwiseInteractions`."""

    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        """log sum exp(beta U), exact, a scalar, float64; its derivatives in beta are moments of U.

        By adding up all states where there are at most `LISTED`, else by transfer matrices on two-dimensional
        lattices with a narrow side.

        Raises:
            ValueError: if the model is too large for both.
        """
        terms = self.pairwise_terms()
        beta = torch.as_tensor(beta, dtype=torch.float64, device=terms.field.device)
        sides = self._plane()
        if self.space.size <= LISTED:
            return (beta * self.log_prob(self.space.states().to(beta))).logsumexp(0)
        if not sides or self.space.levels ** min(sides) > MOST_ROWS:
            raise ValueError(
                f"log Z of {type(self).__name__} is known for strips with at most {MOST_ROWS} states of a "
                f"row and for at most {LISTED} states in all, one of {self.space.d} sites with "
                f"{self.space.levels} levels was given"
            )
        couplings, field = self._strip(terms)
        return transfer_log_partition(couplings, field, beta) + beta * terms.constant.double()
