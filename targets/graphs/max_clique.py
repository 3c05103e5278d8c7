"""The maximum clique: as many nodes as possible with an edge between any two of them."""

from __future__ import annotations

from torch import Tensor

from targets.graphs.best_known import CLIQUES, published
from targets.graphs.node_sets import NodeSet
from targets.graphs.optimum import largest_clique


class MaxClique(NodeSet):
    """U = scale * (sum_i theta_i - penalty * number of pairs within the set without an edge).

    With s nodes and m edges within the set these are s (s - 1) / 2 - m pairs. The gradient is that of the
    multilinear function with sum over pairs of theta_i theta_j; that of DISCS differs by theta_i - 1/2.

    Spaces: binary.
    Source: DISCS (Goshvadi et al. 2023), Eqs. 14 and 15. Its penalty is 1.0001, and in the released code 1,
        at which a set with a missing edge may be as good as one without.

    Args:
        graph: the arguments of `targets.graphs.random_graphs.random_graph` by name, or a graph of networkx.
        file: a graph's file instead, as a path or below ``root/graphs``.
        root: folder of all data sets.
        file_format: ``auto``, or a name of `targets.graphs.files.graph_files.FORMATS`.
        scale: a positive number.
        penalty: of each missing edge, at least 1.

    Raises:
        ValueError: naming the argument, or what is wrong with the file.
    """

    def sums(self, theta: Tensor) -> Tensor:
        """For every node the nodes of the set that are not its neighbours, itself left out."""
        found: Tensor = theta.sum(-1, keepdim=True) - theta - self.neighbours(theta)
        return found

    def _published(self) -> float | None:
        return published(CLIQUES, self.graph.name, self.graph)

    def _solved(self) -> float | None:
        return largest_clique(self.graph)
