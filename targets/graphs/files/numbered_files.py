"""Graph files whose nodes are the numbers from 1 on: Gset, DIMACS and METIS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx

from targets.datasets.files.data_error import DataError

MOST_NODES = 1_000_000
"""Nodes at most that the first line of a file may promise: each takes memory before an edge is read."""

UNREAD = ("c", "n", "d", "v", "x", "%", "\x1a")
"""What DIMACS lines begin with that say nothing of the edges: comments, descriptions of nodes, ends."""


def text_lines(raw: bytes) -> list[str]:
    """The lines of a text in UTF-8, without the byte order mark that some programs begin it with."""
    return raw.decode("utf-8-sig").splitlines()


def gset(raw: bytes) -> networkx.Graph[Any]:
    """The numbers of nodes and edges, then an edge a line with its weight; ``#`` begins a comment."""
    rows = [line.split() for line in text_lines(raw) if line.strip() and not line.lstrip().startswith("#")]
    if not rows or len(rows[0]) != 2:
        raise DataError("its first line must have the numbers of nodes and edges")
    nodes, edges = map(node_number, rows[0])
    _require_edges(len(rows) - 1, [edges], f"{edges}")
    graph = numbered_graph(nodes, rows[1:])
    if graph.number_of_edges() < edges:
        raise DataError(f"its {edges} edges must differ, {graph.number_of_edges()} do")
    return graph


def dimacs(raw: bytes) -> networkx.Graph[Any]:
    """``c`` comments, ``p edge n m``, then ``e i j`` or ``e i j weight``."""
    rows = [line.split() for line in text_lines(raw)]
    head = next((row for row in rows if row and row[0] == "p"), None)
    if head is None or len(head) != 4:
        raise DataError("it must have a line 'p edge NODES EDGES'")
    for number, row in enumerate(rows, 1):
        if row and row[0] == "a":
            raise DataError("it must be undirected, it has arcs (lines that begin with a)")
        if row and row[0] not in ("p", "e") and not row[0].startswith(UNREAD):
            raise DataError(f"line {number} must begin with e, or with c for a comment, {row[0]!r} is there")
    edges, promised = [row[1:] for row in rows if row and row[0] == "e"], int(head[3])
    # Some collections count every edge of the file twice in this line, others list it in both directions.
    allowed = [promised, 2 * promised, *([] if promised % 2 else [promised // 2])]
    _require_edges(len(edges), allowed, f"{promised} (or half or twice as many)")
    return numbered_graph(int(head[2]), edges)


def metis(raw: bytes) -> networkx.Graph[Any]:
    """``n m`` and perhaps a format, then the neighbours of each node; ``%`` begins a comment."""
    rows = [line.split() for line in text_lines(raw) if not line.lstrip().startswith("%")]
    if not rows or len(rows[0]) not in (2, 3, 4):
        raise DataError("its first line must have the numbers of nodes and edges")
    nodes, edges = int(rows[0][0]), int(rows[0][1])
    code = rows[0][2].zfill(3) if len(rows[0]) > 2 else "000"
    skipped = int(code[0]) + (int(rows[0][3]) if len(rows[0]) > 3 else 1) * int(code[1])
    step = 2 if code[2] == "1" else 1
    lists, left = rows[1 : nodes + 1], rows[nodes + 1 :]
    if len(lists) < nodes:
        raise DataError(f"it must have a line for each of {nodes} nodes, it has {len(lists)}")
    if any(left):
        raise DataError(f"it must have a line for each of {nodes} nodes, more lines are there")
    for node, row in enumerate(lists, 1):
        if len(row[skipped:]) % step:
            raise DataError(f"node {node} must have a weight for each neighbour, {' '.join(row)!r} is there")
    listed = [
        [str(node), *row[skipped:][place : place + step]]
        for node, row in enumerate(lists, 1)
        for place in range(0, len(row) - skipped, step)
    ]
    given = {(int(row[0]), int(row[1])) for row in listed}
    for one, other in sorted(given):
        if (other, one) not in given:
            raise DataError(
                f"it must be undirected, node {one} lists {other} and {other} does not list {one}"
            )
    graph = numbered_graph(nodes, listed)  # both directions, whose weights must be the same
    _require_edges(sum(int(row[0]) <= int(row[1]) for row in listed), [edges], f"{edges}")
    return graph


def node_number(word: str) -> int:
    """The number of a node, or of nodes.

    Raises:
        DataError: unless it is a whole number.
    """
    try:
        return int(word)
    except ValueError as error:
        raise DataError(f"its nodes must be whole numbers, {word!r} is there") from error


def _require_edges(found: int, allowed: Sequence[int], words: str) -> None:
    if found not in allowed:
        raise DataError(f"it must have {words} edges, it has {found}")


def numbered_graph(nodes: int, rows: Sequence[Sequence[str]]) -> networkx.Graph[Any]:
    """A graph of nodes 1 to `nodes` with an edge a row: two nodes, and perhaps a weight.

    Raises:
        DataError: if a row is none, names another node, or has another weight for an edge that is there.
    """
    if nodes > MOST_NODES:
        raise DataError(f"it must have at most {MOST_NODES:,} nodes, {nodes:,} are given")
    graph: networkx.Graph[Any] = networkx.Graph()
    graph.add_nodes_from(range(1, nodes + 1))
    for row in rows:
        if len(row) not in (2, 3):
            raise DataError(f"an edge must have two nodes and perhaps a weight, {' '.join(row)!r} was given")
        one, other = node_number(row[0]), node_number(row[1])
        if not 1 <= min(one, other) <= max(one, other) <= nodes:
            raise DataError(f"its nodes must be from 1 to {nodes}, the edge {one}-{other} was given")
        add_edge(graph, one, other, row[2] if len(row) == 3 else 1.0)
    return graph


def add_edge(graph: networkx.Graph[Any], one: Any, other: Any, weight: Any) -> None:
    """Adds an edge.

    Raises:
        DataError: if its weight is no number, or it is there with another weight.
    """
    try:
        value = float(weight)
    except ValueError as error:
        raise DataError(
            f"the weight of the edge {one}-{other} must be a number, {weight!r} is there"
        ) from error
    if graph.has_edge(one, other) and graph[one][other]["weight"] != value:
        raise DataError(f"the edge {one}-{other} must have one weight, it has two")
    graph.add_edge(one, other, weight=value)
