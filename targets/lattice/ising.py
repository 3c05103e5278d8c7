"""The Ising model: spins of two directions, with any interactions of pairs and an external field."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from targets.lattice.geometry import Geometry, finite
from targets.lattice.infinite_lattice import InfiniteLattice, infinite_square_lattice
from targets.lattice.interactions import Torus
from targets.lattice.lattice_model import LatticeModel
from targets.lattice.square_lattice import kaufman_log_partition
from targets.spaces import Binary
from targets.target import PairwiseTerms


class Ising(LatticeModel):
    """U = sum over edges of J_ij s_i s_j + h sum_i s_i, with the spins s_i = 2 theta_i - 1 of bits theta_i.

    J and h are in units of the temperature: J is the coupling over k_B T. On the square lattice with one J
    the transition is at J = ln(1 + sqrt 2) / 2 = 0.4407; on the cubic one it is near 0.2217. With random
    couplings it is the spin glass of Edwards and Anderson.

    Spaces: binary.
    Source: Ising (1925); Edwards and Anderson (1975); DISCS (Goshvadi et al. 2023), Eq. 3.

    Args:
        geometry: ``square`` or ``cubic``, both periodic, or ``random``, a regular graph.
        size: sites along each side, one number or one for each side; of a random graph, all sites.
        coupling: J of all edges; with disorder its scale.
        field: h of all sites.
        disorder: ``none``, ``gaussian`` or ``bimodal`` (plus or minus `coupling`).
        degree: neighbours of every site of a random graph.
        instance_seed: of the random graph and of random couplings.

    Raises:
        ValueError: if a size is below 2, or an argument is not among those allowed.
    """

    space: Binary
    field: Tensor

    def __init__(
        self,
        geometry: str = "square",
        size: int | Sequence[int] = 32,
        coupling: float = 0.4,
        field: float = 0.0,
        disorder: str = "none",
        degree: int = 4,
        instance_seed: int = 0,
    ) -> None:
        super().__init__()
        self.geometry = Geometry(geometry, size, degree, instance_seed)
        self.interactions = self.geometry.interactions(coupling, disorder)
        self.space = Binary(self.interactions.d)
        self.register_buffer("field", torch.tensor(finite("field", field), dtype=torch.float64))
        self.offer_draws()

    def log_prob(self, theta: Tensor) -> Tensor:
        return self._log_prob_and_force(theta)[0]

    @torch.no_grad()
    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient 2 (sum_j J_ij s_j + h), from one sum over the neighbours."""
        log_prob, force = self._log_prob_and_force(theta)
        return log_prob, force.mul_(2.0)

    def _log_prob_and_force(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        spins = torch.sub(2.0 * theta, 1.0)
        sums = self.interactions.sums(spins)
        return (torch.add(self.field, sums, alpha=0.5) * spins).sum(-1), sums + self.field

    def magnetisation(self, theta: Tensor) -> Tensor:
        """Mean spin, from -1 to 1, ``(*batch)``."""
        return 2.0 * theta.mean(-1) - 1.0

    def pairwise_terms(self) -> PairwiseTerms:
        """Edges whose ends agree gain 2 J over those whose ends differ; levels 0 and 1 have -h and h."""
        strengths = self.interactions.strengths()
        field = torch.stack([-self.field, self.field]).expand(self.space.d, 2)
        return PairwiseTerms(self.interactions.edges, 2.0 * strengths, field, -strengths.sum())

    def flip_differences(self) -> Tensor | None:
        """-2 s (sum_j J_ij s_j + h) of all spins and neighbours; None where couplings differ in size."""
        strengths = self.interactions.strengths()
        coupling = strengths.abs().amax()
        if not bool((strengths.abs() == coupling).all()):
            return None
        degree = 2 * len(strengths) // self.space.d
        sums = coupling * torch.arange(-degree, degree + 1, 2, device=coupling.device)
        both: Tensor = torch.unique(torch.cat([2.0 * (sums - self.field), 2.0 * (sums + self.field)]))
        return both

    def log_partition(self, beta: Tensor | float = 1.0) -> Tensor:
        """As `LatticeModel.log_partition`, and for any square lattice with one J > 0 and h = 0 (Kaufman)."""
        coupling = self._square_coupling()
        if coupling is None or not bool(coupling * beta >= 0):
            return super().log_partition(beta)
        n, m = self.geometry.sides
        return kaufman_log_partition(coupling * beta, (n, m))

    def infinite_lattice(self) -> InfiniteLattice | None:
        """Onsager's and Yang's values of the infinite square lattice with one J > 0 and h = 0, or None."""
        coupling = self._square_coupling()
        return None if coupling is None else infinite_square_lattice(float(coupling))

    def _square_coupling(self) -> Tensor | None:
        """J, float64, of a square lattice with one J > 0 and h = 0; None for any other."""
        lattice = self.interactions
        if not isinstance(lattice, Torus) or len(lattice.sides) != 2 or lattice.coupling.dim():
            return None
        coupling = lattice.strengths()[0].double()
        return coupling if bool(coupling > 0) and not bool(self.field) else None
