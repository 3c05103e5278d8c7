"""The Potts model: sites of q colours, whose neighbours gain if they agree."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from targets.checks import whole_number
from targets.lattice.geometry import Geometry, finite
from targets.lattice.lattice_model import LatticeModel
from targets.spaces import Categorical
from targets.target import PairwiseTerms


class Potts(LatticeModel):
    """U = J sum over edges of 1{x_i = x_j} + h sum_i 1{x_i = 0}, with one-hot colours x_i of q.

    J and h are in units of the temperature. On the square lattice the transition is at J = ln(1 + sqrt q),
    discontinuous from q = 5 on; for q = 2 it is the Ising model with half this J.

    Spaces: categorical.
    Source: Potts (1952); Wu (1982), Eq. 1.6; DISCS (Goshvadi et al. 2023), Eq. 4.

    Args:
        geometry: ``square`` or ``cubic``, both periodic, or ``random``, a regular graph.
        size: sites along each side, one number or one for each side; of a random graph, all sites.
        q: number of colours, at least 2.
        coupling: J of all edges.
        field: h of the first colour.
        degree: neighbours of every site of a random graph.
        instance_seed: of the random graph.

    Raises:
        ValueError: if a size or q is below 2, or an argument is not among those allowed.
    """

    space: Categorical
    field: Tensor

    def __init__(
        self,
        geometry: str = "square",
        size: int | Sequence[int] = 16,
        q: int = 3,
        coupling: float = 0.9,
        field: float = 0.0,
        degree: int = 4,
        instance_seed: int = 0,
    ) -> None:
        super().__init__()
        self.geometry = Geometry(geometry, size, degree, instance_seed)
        self.interactions = self.geometry.interactions(coupling)
        self.space = Categorical(self.interactions.d, whole_number("q", q, 2))
        colours = torch.zeros(q, dtype=torch.float64)
        colours[0] = finite("field", field)
        self.register_buffer("field", colours)
        self.offer_draws()

    def log_prob(self, theta: Tensor) -> Tensor:
        sums = self.interactions.sums(theta, inner=1)
        return self._log_prob(theta, sums)

    @torch.no_grad()
    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient sum_j J_ij x_j + h, from one sum over the neighbours."""
        sums = self.interactions.sums(theta, inner=1)
        return self._log_prob(theta, sums), sums.add_(self.field)

    def _log_prob(self, theta: Tensor, sums: Tensor) -> Tensor:
        return (torch.add(self.field, sums, alpha=0.5) * theta).flatten(-2).sum(-1)

    def magnetisation(self, theta: Tensor) -> Tensor:
        """(q m - 1) / (q - 1) for the share m of the most frequent colour, from 0 to 1, ``(*batch)``."""
        q = self.space.levels
        return (q * theta.mean(-2).amax(-1) - 1.0) / (q - 1)

    def pairwise_terms(self) -> PairwiseTerms:
        """Edges whose ends agree gain J; the first colour gains h."""
        field = self.field.expand(self.space.d, self.space.levels)
        return PairwiseTerms(
            self.interactions.edges, self.interactions.strengths(), field, field.new_zeros(())
        )
