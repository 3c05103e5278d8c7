"""A problem on a graph as a density: the graph by its description, and what all these targets share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeAlias

import networkx
import torch
from torch import Tensor

from targets.checks import described, positive_number
from targets.graphs.files.graph_files import AUTO, find_graph, read_graph
from targets.graphs.graph import Graph, NeighbourSum, as_graph
from targets.graphs.random_graphs import random_graph
from targets.spaces import Discrete
from targets.target import Target

Description: TypeAlias = Mapping[str, Any] | networkx.Graph
"""The arguments of `random_graph` by name, or a graph of networkx."""


def graph_of(graph: Description | None, file: str | None, root: str | None, file_format: str) -> Graph:
    """The graph in `file`, if one is given, or else the one that `graph` describes.

    Raises:
        ValueError: naming the argument, or what is wrong with the file.
    """
    if file is not None:
        return read_graph(find_graph(str(file), root), file_format)
    if file_format != AUTO:
        raise ValueError(f"file_format must be {AUTO!r} where file is null, {file_format!r} was given")
    if isinstance(graph, networkx.Graph):
        return as_graph(graph, "graph", str(graph.name or ""))
    if not isinstance(graph, Mapping | None):
        raise ValueError(
            f"graph must be the settings of a random graph by name, {described(graph)} was given"
        )
    return random_graph(**(graph or {}))


class GraphProblem(Target):
    """U = scale * (objective - penalty) on a graph; the objective is negated where it is minimised.

    If all weights are whole numbers, sums over neighbours are exact in float32, so that the numbers of a seed
    do not depend on the batch.

    Args:
        graph: n nodes.
        scale: U per unit of the objective.
        space: of the states.
        weighted: whether the problem reads the edges' weights.

    Attributes:
        neighbours: sums over the neighbours of all nodes.
        scale: U per unit of the objective.
    """

    direction: ClassVar[Literal["min", "max"]] = "max"
    solvable: ClassVar[int] = 30
    """Nodes at most of a graph whose optimum is computed."""
    by_seed = (
        *("log_prob", "log_prob_and_grad", "log_prob_and_differences"),
        *("objective", "feasible", "repaired"),
    )
    space: Discrete

    def __init__(self, graph: Graph, scale: float, space: Discrete, weighted: bool = True) -> None:
        super().__init__()
        self.graph, self.space, self.scale = graph, space, positive_number("scale", scale)
        self.batch_invariant = graph.whole or not weighted
        self.neighbours = NeighbourSum(graph, weighted)
        self._one: Tensor
        self.register_buffer("_one", torch.ones(()), persistent=False)
        self._optimum: float | None = math.nan

    @abstractmethod
    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient, from one sparse product."""

    def log_prob(self, theta: Tensor) -> Tensor:
        return self.log_prob_and_grad(theta)[0]

    @abstractmethod
    def objective(self, theta: Tensor) -> Tensor:
        """The objective without penalty, ``(*batch)``, float64."""

    def feasible(self, theta: Tensor) -> Tensor:
        """Whether each state is a solution, ``(*batch)``, bool: here every state is."""
        return torch.ones(self.space.batch_shape(theta), dtype=torch.bool, device=theta.device)

    def repaired(self, theta: Tensor) -> Tensor:
        """A feasible state for each of `theta`: here the state itself."""
        return theta

    def optimum(self) -> float | None:
        """The optimum (`targets.graphs.optimum`), of at most `solvable` nodes; None of more."""
        if self._optimum is not None and math.isnan(self._optimum):
            self._optimum = self._solved() if self.graph.nodes <= self.solvable else None
        return self._optimum

    def best_known(self) -> float | None:
        """The optimum where it is computed, or else the best objective that has been published, or None."""
        found = self.optimum()
        return self._published() if found is None else found

    def _published(self) -> float | None:
        return None

    @abstractmethod
    def _solved(self) -> float | None:
        """The optimum; None if it was not found within the time limit of `targets.graphs.optimum`."""
