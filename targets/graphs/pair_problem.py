"""Problems on the nodes' bits with U linear in every bit."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor

from targets.graphs.graph import Graph
from targets.graphs.graph_problem import GraphProblem
from targets.multilinear import Multilinear
from targets.spaces import Binary


class PairProblem(GraphProblem, Multilinear):
    """U = scale * sum_i theta_i (h_i + c / 2 s_i(theta)), where s_i is a sum over nodes other than i.

    Attributes:
        coupling: c.
    """

    space: Binary
    coupling: float

    def __init__(self, graph: Graph, scale: float, weighted: bool = True) -> None:
        super().__init__(graph, scale, Binary(graph.nodes), weighted)

    @abstractmethod
    def linear(self, theta: Tensor) -> Tensor:
        """h, which broadcasts to `theta` and has its dtype and device."""

    def sums(self, theta: Tensor) -> Tensor:
        """s, like `theta`: by default over the neighbours."""
        found: Tensor = self.neighbours(theta)
        return found

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        linear, sums = self.linear(theta), self.sums(theta)
        # Both sums are of whole numbers where the weights are, and thus exact.
        value = (theta * linear).sum(-1) + (theta * sums).sum(-1).mul_(0.5 * self.coupling)
        grad = sums.mul_(self.coupling).add_(linear).mul_(self.scale)
        return value.mul_(self.scale), grad
