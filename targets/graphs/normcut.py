"""The normalised cut: parts of the nodes with little weight between them for the weight that they have."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.checks import whole_number, within
from targets.graphs.files.graph_files import AUTO
from targets.graphs.graph import Graph
from targets.graphs.graph_problem import Description, GraphProblem, graph_of
from targets.graphs.optimum import smallest_normalised_cut
from targets.spaces import Categorical


class NormCut(GraphProblem):
    """U = -scale * (sum_k cut_k / volume_k + penalty * number of empty parts).

    The volume of part k is the sum of its nodes' degrees, cut_k the weight of the edges that leave it. A part
    of volume 0 is empty and has no cut; a single node in it would have the ratio 1. The gradient of U is
    -scale times that of cut_k / volume_k = 1 - theta_k' A theta_k / d' theta_k; in an empty part it is
    scale (penalty - 1), for nodes with neighbours.

    Spaces: categorical.
    Source: Shi and Malik (2000); the released code of DISCS (Goshvadi et al. 2023) without its term for the
        parts' sizes; a part of theirs that is empty costs 10^8, which no chain leaves.

    Args:
        graph: the arguments of `targets.graphs.random_graphs.random_graph` by name, or a graph of networkx;
            no weight may be negative.
        file: a graph's file instead, as a path or below ``root/graphs``.
        root: folder of all data sets.
        file_format: ``auto``, or a name of `targets.graphs.files.graph_files.FORMATS`.
        scale: a positive number.
        parts: K, at least 2, and at most the number of nodes with edges of a weight above 0.
        penalty: of each empty part, at least 2: then a node moved into it never makes U smaller.

    Raises:
        ValueError: naming the argument, or what is wrong with the file.
    """

    direction = "min"
    space: Categorical

    def __init__(
        self,
        graph: Description | None = None,
        file: str | None = None,
        root: str | None = None,
        file_format: str = AUTO,
        scale: float = 100.0,
        parts: int = 2,
        penalty: float = 2.0,
    ) -> None:
        found = graph_of(graph, file, root, file_format)
        self.parts, self.penalty = whole_number("parts", parts, 2), within("penalty", penalty, 2.0, 1e6)
        _require_volumes("graph" if file is None else "file", found)
        served = len(set(found.edges[found.weights > 0].flatten().tolist()))
        if parts > served:
            raise ValueError(
                f"parts must be at most {served}, the graph's nodes with edges of a weight above 0, "
                f"{parts} was given"
            )
        super().__init__(found, scale, Categorical(found.nodes, parts))

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        sums, volume, within_part = self._parts(theta)
        empty = volume == 0
        ratio = within_part / volume.masked_fill(empty, 1.0)
        degree = self.neighbours.degree.to(theta).unsqueeze(-1)
        slope = (2.0 * sums - ratio.unsqueeze(-2) * degree) / volume.masked_fill(empty, 1.0).unsqueeze(-2)
        grad = torch.where(empty.unsqueeze(-2), (self.penalty - 1.0) * (degree > 0), slope)
        return self._cost(volume, within_part).sum(-1).mul_(-self.scale), grad.mul_(self.scale)

    def objective(self, theta: Tensor) -> Tensor:
        """Sum over the parts of cut / volume, ``(*batch)``, float64; empty parts count 0."""
        _, volume, within_part = self._parts(theta.double())
        return (volume > 0).double().sub_(within_part / volume.masked_fill(volume == 0, 1.0)).sum(-1)

    def feasible(self, theta: Tensor) -> Tensor:
        """Whether no part is empty, ``(*batch)``, bool."""
        return (self._parts(theta)[1] > 0).all(-1)

    def repaired(self, theta: Tensor) -> Tensor:
        """`theta` with a node in every part: for an empty one the node whose move there costs least.

        None is moved that is alone in its part.
        """
        state, degree = theta, self.neighbours.degree.to(theta)
        for part in range(self.parts):
            volume = self._parts(state)[1].unsqueeze(-2)
            empty = volume[..., part : part + 1] == 0
            alone = (state * (volume == degree.unsqueeze(-1))).sum(-1) > 0
            changes = self.log_prob_and_differences(state)[1][..., part]
            node = changes.masked_fill(alone | (degree == 0), -torch.inf).argmax(-1)
            levels = self.space.to_levels(state).scatter(-1, node.unsqueeze(-1), part)
            state = torch.where(empty, self.space.from_levels(levels, theta.dtype), state)
        return state

    def log_prob_and_differences(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U ``(*batch)``, and its exact change if a node moves to a part, like `theta`; 0 where it is."""
        sums, volume, within_part = (part.unsqueeze(-2) for part in self._parts(theta))
        sums, degree = sums.squeeze(-2), self.neighbours.degree.to(theta).unsqueeze(-1)
        cost = self._cost(volume, within_part)
        gain = self._cost(volume + degree, within_part + 2.0 * sums) - cost
        loss = self._cost(volume - degree, within_part - 2.0 * sums) - cost
        change = gain + (theta * loss).sum(-1, keepdim=True)
        return cost.sum((-1, -2)).mul_(-self.scale), change.mul_(theta - 1.0).mul_(self.scale)

    def _cost(self, volume: Tensor, within_part: Tensor) -> Tensor:
        """cut / volume of parts, or the penalty where the volume is 0."""
        return torch.where(volume == 0, self.penalty, 1.0 - within_part / volume)

    def _parts(self, theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Sums over neighbours like `theta`; of each part ``(*batch, K)`` volume, twice the weight within."""
        sums = self.neighbours(theta, event=2)
        volume = (theta * self.neighbours.degree.to(theta).unsqueeze(-1)).sum(-2)
        return sums, volume, (theta * sums).sum(-2)

    def _solved(self) -> float | None:
        return smallest_normalised_cut(self.graph) if self.parts == 2 else None


def _require_volumes(key: str, graph: Graph) -> None:
    negative = (graph.weights < 0).nonzero()
    if len(negative):
        one, other = (graph.labels[node] for node in graph.edges[negative[0, 0]].tolist())
        weight = float(graph.weights[negative[0, 0]])
        raise ValueError(
            f"{key} must have no negative weights for normcut, the edge {one}-{other} has {weight:g}"
        )
    if not bool((graph.weights > 0).any()):
        raise ValueError(f"{key} must have a weight above 0 for normcut, all are 0")
