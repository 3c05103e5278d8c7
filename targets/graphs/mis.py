"""The maximum independent set: as many nodes as possible without an edge between two of them."""

from __future__ import annotations

from targets.graphs.node_sets import NodeSet
from targets.graphs.optimum import largest_independent_set


class MIS(NodeSet):
    """U = scale * (sum_i theta_i - penalty * number of edges within the set).

    The gradient is that of the multilinear function with sum over edges of theta_i theta_j.

    Spaces: binary.
    Source: DISCS (Goshvadi et al. 2023), Eqs. 12 and 13. Its penalty is 1.0001, and in the released
        code 1.001.

    Args:
        graph: the arguments of `targets.graphs.random_graphs.random_graph` by name, or a graph of networkx.
        file: a graph's file instead, as a path or below ``root/graphs``.
        root: folder of all data sets.
        file_format: ``auto``, or a name of `targets.graphs.files.graph_files.FORMATS`.
        scale: a positive number.
        penalty: of each edge within the set, at least 1.

    Raises:
        ValueError: naming the argument, or what is wrong with the file.
    """

    def _solved(self) -> float | None:
        return largest_independent_set(self.graph)
