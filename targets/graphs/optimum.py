"""Exact optima of small problems on graphs: by integer programming (SciPy's HiGHS), or of a list of all."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from targets.graphs.graph import Graph

SECONDS = 60.0
"""Time limit of one integer program."""

GROUP, ROWS = 10, 64
"""Nodes in one group, and divisions of the other that are weighed at a time: their sums fit into a cache."""

Row = tuple[dict[int, float], float, float]
"""A constraint: coefficients by variable, and the least and the largest value of their sum."""


def largest_cut(graph: Graph) -> float | None:
    """The weight of the maximum cut; None if it was not found within the time limit.

    A bit for each node and one for each edge, whether it is cut. The triangle inequalities of the graph's own
    triangles make the relaxation tighter; the first node's side is fixed.
    """
    nodes, edges = graph.nodes, [(int(a), int(b)) for a, b in graph.edges.tolist()]
    place = {edge: nodes + number for number, edge in enumerate(edges)}
    rows: list[Row] = [({0: 1.0}, 0.0, 0.0)]
    for (one, other), cut in place.items():
        rows += [({one: 1.0, other: 1.0, cut: -1.0}, 0.0, 2.0), ({one: 1.0, other: 1.0, cut: 1.0}, 0.0, 2.0)]
        rows += [
            ({one: 1.0, other: -1.0, cut: -1.0}, -2.0, 0.0),
            ({one: -1.0, other: 1.0, cut: -1.0}, -2.0, 0.0),
        ]
    for a, b, c in _triangles(edges):
        sides = [place[a, b], place[a, c], place[b, c]]
        rows.append((dict.fromkeys(sides, 1.0), 0.0, 2.0))
    weights = np.concatenate([np.zeros(nodes), graph.weights.numpy()])
    # HiGHS takes differences below 1e-6 for none, and numbers of 1e20 for infinite.
    sizes = np.abs(weights[weights != 0])
    unit = max(sizes.min(), 1e-12 * sizes.max()) if len(sizes) else 1.0
    solution = _solution(weights / unit, rows)
    return None if solution is None else float(weights @ solution)


def largest_independent_set(graph: Graph) -> float | None:
    """The number of nodes in the largest independent set; None as for `largest_cut`."""
    rows: list[Row] = [({int(a): 1.0, int(b): 1.0}, 0.0, 1.0) for a, b in graph.edges.tolist()]
    return _largest(np.ones(graph.nodes), rows)


def largest_clique(graph: Graph) -> float | None:
    """The number of nodes in the largest clique; None as for `largest_cut`."""
    there = {(int(a), int(b)) for a, b in graph.edges.tolist()}
    missing = [pair for pair in itertools.combinations(range(graph.nodes), 2) if pair not in there]
    rows: list[Row] = [({a: 1.0, b: 1.0}, 0.0, 1.0) for a, b in missing]
    return _largest(np.ones(graph.nodes), rows)


def smallest_normalised_cut(graph: Graph) -> float:
    """The smallest cut / vol of two parts together, neither of volume 0; all divisions are listed.

    The nodes are two groups: the weight within a part is that of its nodes in either group, and that between
    them, a product of matrices. What is below 1e-12 is 0 but for rounding, as in a graph of two components.
    """
    adjacency = np.zeros((graph.nodes, graph.nodes))
    adjacency[tuple(graph.edges.T.numpy())] = graph.weights.numpy()
    adjacency += adjacency.T
    served = adjacency.any(0)  # the others have no volume
    adjacency = adjacency[served][:, served]
    group, smallest = min(len(adjacency) - 1, GROUP), np.inf
    ours = [(side, *_weights(adjacency, slice(group), side)) for side in _sides(np.arange(2**group), group)]
    divisions = np.arange(2 ** (len(adjacency) - 1 - group))  # the last node is in the second part
    for some in np.array_split(divisions, 1 + len(divisions) // ROWS):
        objective = np.zeros((len(some), 2**group))
        theirs = _sides(some, len(adjacency) - group)
        for side, (our_side, our_volume, our_weight) in zip(theirs, ours, strict=True):
            volume, weight = _weights(adjacency, slice(group, None), side)
            within_part = (2.0 * side @ adjacency[group:, :group]) @ our_side.T
            within_part += weight[:, None] + our_weight
            volume = volume[:, None] + our_volume
            objective += 1.0 - within_part / np.where(volume > 0, volume, 1.0)
        if some[0] == 0:
            objective[0, 0] = np.inf  # the first part is empty
        smallest = min(smallest, float(objective.min()))
    return smallest if smallest > 1e-12 else 0.0


def _sides(numbers: NDArray[np.int64], nodes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bits of the nodes in the first and in the second part, a row for each division."""
    first = (numbers[:, None] >> np.arange(nodes) & 1).astype(float)
    return first, 1.0 - first


def _weights(
    adjacency: NDArray[np.float64], group: slice, side: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The volume of each row of `side`, bits of the nodes in `group`, and twice the weight within it."""
    return side @ adjacency.sum(0)[group], (side @ adjacency[group, group] * side).sum(1)


def _triangles(edges: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Three nodes in order that are neighbours of each other."""
    there = set(edges)
    later: dict[int, list[int]] = {}
    for one, other in edges:
        later.setdefault(one, []).append(other)
    pairs = (
        (one, *pair) for one, found in later.items() for pair in itertools.combinations(sorted(found), 2)
    )
    return [three for three in pairs if three[1:] in there]


def _largest(weights: NDArray[np.float64], rows: list[Row]) -> float | None:
    solution = _solution(weights, rows)
    return None if solution is None else float(weights @ solution)


def _solution(weights: NDArray[np.float64], rows: list[Row]) -> NDArray[np.float64] | None:
    """Bits that make the sum of `weights` largest under the constraints; None if not proved in time."""
    if not rows:
        return (weights > 0).astype(float)  # SciPy takes no matrix without rows
    entries = [(number, place, value) for number, row in enumerate(rows) for place, value in row[0].items()]
    lines, places, values = zip(*entries, strict=True)
    where = np.asarray([lines, places], np.int32)  # SciPy 1.13 takes no others
    matrix = coo_array((values, (where[0], where[1])), shape=(len(rows), len(weights))).tocsr()
    limits = LinearConstraint(matrix, [row[1] for row in rows], [row[2] for row in rows])
    found = milp(
        -weights,
        constraints=limits,
        bounds=Bounds(0, 1),
        integrality=np.ones(len(weights)),
        options={"time_limit": SECONDS, "mip_rel_gap": 0.0},
    )
    return np.round(found.x) if found.status == 0 else None
