"""Exact optima of small problems on graphs by integer programming: SciPy's interface to HiGHS."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from targets.graphs.graph import Graph

SECONDS = 60.0
"""Time limit of one integer program."""

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
    return _largest(weights, rows)


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


def smallest_normalised_cut(graph: Graph) -> float | None:
    """The smallest cut (1 / vol + 1 / (V - vol)) of two parts; None as for `largest_cut`.

    It is V times the smallest ratio cut / (vol (V - vol)), found by Dinkelbach's method: integer programs for
    the least cut - ratio vol (V - vol), where a bit for each possible volume says which one it is. Only for
    whole weights; None for others.
    """
    if not graph.whole:
        return None
    adjacency = np.zeros((graph.nodes, graph.nodes))
    adjacency[tuple(graph.edges.T.numpy())] = graph.weights.numpy()
    adjacency += adjacency.T
    degree = adjacency.sum(0)
    total, nodes, edges = float(degree.sum()), graph.nodes, len(graph.edges)
    volumes = np.arange(1.0, total // 2 + 1)
    first = nodes + edges
    rows: list[Row] = []
    for number, (one, other) in enumerate(graph.edges.tolist(), nodes):
        rows += [
            ({one: 1.0, other: -1.0, number: -1.0}, -2.0, 0.0),
            ({one: -1.0, other: 1.0, number: -1.0}, -2.0, 0.0),
        ]
    chosen = {first + place: 1.0 for place in range(len(volumes))}
    taken = {node: float(degree[node]) for node in range(nodes)}
    rows.append((chosen, 1.0, 1.0))
    rows.append(({**taken, **{first + place: -volume for place, volume in enumerate(volumes)}}, 0.0, 0.0))
    size, ratio = volumes * (total - volumes), _spectral_ratio(adjacency)
    while True:
        weights = np.concatenate([np.zeros(nodes), -graph.weights.numpy(), ratio * size])
        solution = _solution(weights, rows)
        if solution is None:
            return None
        weight, area = float(solution[nodes:first] @ graph.weights.numpy()), float(solution[first:] @ size)
        if weight / area >= ratio * (1.0 - 1e-9):
            return total * ratio
        ratio = weight / area


def _spectral_ratio(adjacency: NDArray[np.float64]) -> float:
    """The least cut / (vol (V - vol)) of the thresholds of the second eigenvector (Shi and Malik 2000)."""
    degree: NDArray[np.float64] = adjacency.sum(0)
    root = 1.0 / np.sqrt(np.maximum(degree, 1.0))
    vectors = np.linalg.eigh(np.diag(degree * root**2) - root[:, None] * adjacency * root)[1]
    ratios = [2.0 / degree.sum()]  # no more than that of two parts with ratios 1
    for vector in vectors.T[:5]:
        order = np.argsort(root * vector)
        for number in range(1, len(order)):
            part, rest = order[:number], order[number:]
            area = degree[part].sum() * degree[rest].sum()
            if area > 0:
                ratios.append(float(adjacency[np.ix_(part, rest)].sum() / area))
    return float(min(ratios))


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
