"""An undirected graph with weights as tensors, and sums over the neighbours of all nodes at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import networkx
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from targets.datasets.files.data_error import DataError


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph without self-loops, with at least one edge; every edge once.

    Attributes:
        name: of the instance: a file's name without its suffix; empty for a random graph.
        nodes: n.
        edges: nodes of each edge, ``(m, 2)``, int64, from 0 to n - 1.
        weights: of the edges, ``(m,)``, float64.
        labels: what the nodes are called, in their order.
    """

    name: str
    nodes: int
    edges: Tensor
    weights: Tensor
    labels: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether all weights are whole numbers, so that sums of them are exact."""
        return bool((self.weights == self.weights.round()).all())


def as_graph(found: networkx.Graph[Any], what: str, name: str = "") -> Graph:
    """The graph of networkx, its nodes numbered in their order, with the weights ``weight``, 1 by default.

    Args:
        what: how a message begins: ``'PATH'`` of a file, or the key that holds the graph.

    Raises:
        DataError: in one sentence, if it is directed, has a self-loop, two weights for an edge or a weight
            that is no finite number, or has no edges.
    """
    if found.is_directed():
        raise DataError(f"{what} must be an undirected graph, a directed one was given")
    place = {node: number for number, node in enumerate(found.nodes)}
    weights: dict[tuple[int, int], float] = {}
    for one, other, data in found.edges(data=True):
        if one == other:
            raise DataError(f"{what} must have no edge from a node to itself, node {one} has one")
        weight = _number(data.get("weight", 1.0))
        if weight is None:
            raise DataError(
                f"{what} must have finite numbers as weights, the edge {one}-{other} has {data['weight']!r}"
            )
        pair = (min(place[one], place[other]), max(place[one], place[other]))
        if weights.setdefault(pair, weight) != weight:
            raise DataError(f"{what} must have one weight for an edge, {one}-{other} has two")
    if not weights:
        raise DataError(
            f"{what} must have at least one edge, a graph of {len(place)} nodes without was given"
        )
    edges = torch.tensor(sorted(weights))
    values = [weights[one, other] for one, other in edges.tolist()]
    labels = tuple(map(str, place))
    return Graph(name, len(place), edges, torch.tensor(values, dtype=torch.float64), labels)


def _number(given: Any) -> float | None:
    try:
        value = float(given)
    except (TypeError, ValueError):
        return None
    return value if abs(value) < float("inf") else None


class NeighbourSum(nn.Module):
    """sum_j w_ij x_j over the neighbours j of every node i: a sparse product, exact for whole numbers.

    One `embedding_bag` for all chains: on a CPU five to twenty times faster than a dense product on graphs
    of 1,000 nodes with mean degrees from 4 to 48, and faster than CSR products or `index_add`.

    Args:
        graph: with n nodes.
        weighted: whether the edges' weights are used, or 1 for all.
    """

    _neighbour: Tensor
    _first: Tensor
    _weight_bits: Tensor | None
    _degree_bits: Tensor

    def __init__(self, graph: Graph, weighted: bool = True) -> None:
        super().__init__()
        node, neighbour = torch.cat([graph.edges, graph.edges.flip(1)]).T
        order = (node * graph.nodes + neighbour).argsort()
        counts = torch.bincount(node, minlength=graph.nodes)
        weights = graph.weights if weighted else torch.ones_like(graph.weights)
        both = weights.repeat(2)[order]
        self.register_buffer("_neighbour", neighbour[order], persistent=False)
        self.register_buffer("_first", counts.cumsum(0) - counts, persistent=False)
        one = bool((weights == 1.0).all())
        degree = torch.zeros(graph.nodes, dtype=torch.float64).index_add_(0, node[order], both)
        # Whole-number buffers move with .to(device) but are not rounded by .to(dtype), as objectives need.
        bits = None if one else both.view(torch.int64)
        self.register_buffer("_weight_bits", bits, persistent=False)
        self.register_buffer("_degree_bits", degree.view(torch.int64), persistent=False)

    @property
    def degree(self) -> Tensor:
        """The sum of each node's weights, ``(n,)``, float64."""
        return self._degree_bits.view(torch.float64)

    def forward(self, theta: Tensor, event: int = 1) -> Tensor:
        """The sums, like `theta` ``(*batch, n)``; with `event` 2 ``(*batch, n, levels)``, level by level."""
        nodes_first = theta.movedim(-event, 0)
        table = nodes_first.reshape(len(self.degree), -1).contiguous()
        weight = None if self._weight_bits is None else self._weight_bits.view(torch.float64).to(table)
        sums = embedding_bag(self._neighbour, table, self._first, mode="sum", per_sample_weights=weight)
        return sums.reshape(nodes_first.shape).movedim(0, -event).contiguous()
