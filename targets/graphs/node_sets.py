"""Sets of nodes as large as possible without a conflict: independent sets and cliques."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.checks import within
from targets.graphs.files.graph_files import AUTO
from targets.graphs.graph_problem import Description, graph_of
from targets.graphs.pair_problem import PairProblem


class NodeSet(PairProblem):
    """U = scale * (number of nodes - penalty * number of conflicting pairs among them).

    With a penalty above 1 a set with a conflict is never better than the set without one of its nodes.

    Args:
        graph, file, root, file_format: of `targets.graphs.graph_problem.graph_of`; weights are not read.
        scale: a positive number.
        penalty: of each conflict, at least 1.
    """

    def __init__(
        self,
        graph: Description | None = None,
        file: str | None = None,
        root: str | None = None,
        file_format: str = AUTO,
        scale: float = 3.0,
        penalty: float = 1.001,
    ) -> None:
        super().__init__(graph_of(graph, file, root, file_format), scale, weighted=False)
        self.penalty = within("penalty", penalty, 1.0, 1e6)
        self.coupling = -self.penalty

    def linear(self, theta: Tensor) -> Tensor:
        one: Tensor = self._one.to(theta)
        return one

    def objective(self, theta: Tensor) -> Tensor:
        """Number of nodes in the set, ``(*batch)``, float64."""
        return theta.double().sum(-1)

    def feasible(self, theta: Tensor) -> Tensor:
        return (theta * self.sums(theta)).sum(-1) == 0

    def repaired(self, theta: Tensor) -> Tensor:
        """`theta` without the node of most conflicts, again and again until there is none; then with the node
        that has most conflicts outside the set least, again and again until no node can be added.

        Ties go to the node with the lowest number.
        """
        state, crowded = theta.clone(), self.sums(torch.ones_like(theta))
        while not bool(self.feasible(state).all()):
            conflicts = state * self.sums(state)
            state = _changed(state, conflicts, conflicts > 0, 0.0)
        while True:
            free = (state == 0) & (self.sums(state) == 0)
            if not bool(free.any()):
                return state
            state = _changed(state, -crowded, free, 1.0)


def _changed(state: Tensor, score: Tensor, allowed: Tensor, value: float) -> Tensor:
    """`state` with `value` at the allowed node of the largest score, where there is one."""
    node = score.masked_fill(~allowed, -torch.inf).argmax(-1, keepdim=True)
    changed = state.scatter(-1, node, value)
    return torch.where(allowed.any(-1, keepdim=True), changed, state)
