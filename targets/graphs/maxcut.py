"""The maximum cut: two parts of the nodes with as much weight as possible between them."""

from __future__ import annotations

from torch import Tensor

from targets.graphs.best_known import published_cut
from targets.graphs.files.graph_files import AUTO
from targets.graphs.graph_problem import Description, graph_of
from targets.graphs.optimum import largest_cut
from targets.graphs.pair_problem import PairProblem
from targets.target import PairwiseTerms


class MaxCut(PairProblem):
    """U = scale * cut(theta), cut = sum over the edges of w_ij (theta_i + theta_j - 2 theta_i theta_j).

    theta_i says in which part node i is; every state is a solution, and its complement has the same cut. The
    gradient is that of this multilinear function.

    Spaces: binary.
    Source: DISCS (Goshvadi et al. 2023), Eqs. 16 and 17: the objective over a temperature, 1 / scale.

    Args:
        graph: the arguments of `targets.graphs.random_graphs.random_graph` by name, or a graph of networkx.
        file: a graph's file instead, as a path or below ``root/graphs``.
        root: folder of all data sets.
        file_format: ``auto``, or a name of `targets.graphs.files.graph_files.FORMATS`.
        scale: a positive number.

    Raises:
        ValueError: naming the argument, or what is wrong with the file.
    """

    coupling = -2.0
    _edges: Tensor
    _weights: Tensor

    def __init__(
        self,
        graph: Description | None = None,
        file: str | None = None,
        root: str | None = None,
        file_format: str = AUTO,
        scale: float = 3.0,
    ) -> None:
        super().__init__(graph_of(graph, file, root, file_format), scale)
        # Buffers, so that no step of a cluster sampler copies them to the device.
        self.register_buffer("_edges", self.graph.edges, persistent=False)
        self.register_buffer("_weights", self.graph.weights, persistent=False)

    def linear(self, theta: Tensor) -> Tensor:
        degree: Tensor = self.neighbours.degree.to(theta)
        return degree

    def objective(self, theta: Tensor) -> Tensor:
        """Weight of the edges between the two parts, ``(*batch)``, float64."""
        wide = theta.double()
        return (wide * (self.linear(wide) - self.sums(wide))).sum(-1)

    def pairwise_terms(self) -> PairwiseTerms:
        """An edge whose ends agree loses its weight in the cut."""
        weights = self._weights.to(self._one) * self.scale
        field = self._one.new_zeros((self.space.d, 2))
        return PairwiseTerms(self._edges, -weights, field, weights.sum())

    def _published(self) -> float | None:
        return published_cut(self.graph)

    def _solved(self) -> float | None:
        return largest_cut(self.graph)
