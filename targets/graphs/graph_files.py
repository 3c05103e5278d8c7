"""Graphs from files: the formats that networkx reads, and those of the collections that publish problems."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import networkx

from targets.checks import one_of
from targets.datasets.files.data_error import DataError
from targets.datasets.files.places import file_content, given_file, one_line
from targets.graphs.graph import Graph, as_graph

AUTO = "auto"


def find_graph(file: str, root: str | None) -> Path:
    """The path of a graph: `file` as it stands, or else below ``root/graphs``.

    Raises:
        DataError: if it is in neither place.
    """
    return given_file(file, root, "graphs", "a graph's file")


def read_graph(path: Path, file_format: str = AUTO) -> Graph:
    """The graph in a file, plain or gzipped.

    Args:
        file_format: one of `FORMATS`; or ``auto``: by the file's suffix, or else by its first lines:
            ``p edge`` is DIMACS, the numbers of nodes and edges are Gset, anything else a list of edges.

    Raises:
        DataError: if it cannot be read, is not in its format, or holds no graph that `as_graph` takes.
    """
    one_of("file_format", file_format, [AUTO, *FORMATS], DataError)
    raw = file_content(path)
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    name = _detected(plain, raw) if file_format == AUTO else file_format
    try:
        found = FORMATS[name](raw)
    except DataError as error:
        raise DataError(f"'{path}' is no {name} file: {error}") from error
    except Exception as error:  # the parsers of networkx raise whatever they trip over
        raise DataError(f"'{path}' is no {name} file: {one_line(error)}") from error
    return as_graph(found, f"'{path}'", plain.stem)


def _detected(path: Path, raw: bytes) -> str:
    if path.suffix.lower() in SUFFIXES:
        return SUFFIXES[path.suffix.lower()]
    rows = [line.split() for line in raw[:10_000].decode("utf-8", "replace").splitlines()]
    meaning = [row for row in rows if row and row[0] not in ("c", "#")]
    if not meaning:
        return "edge_list"
    if meaning[0][0] == "p":
        return "dimacs"
    sizes, first = meaning[0], meaning[1] if len(meaning) > 1 else []
    is_gset = len(sizes) == 2 and all(map(str.isdigit, sizes)) and len(first) == 3
    return "gset" if is_gset else "edge_list"


def _lines(raw: bytes) -> list[str]:
    return raw.decode("utf-8").splitlines()


def _edge_list(raw: bytes) -> networkx.Graph[Any]:
    """An edge a line: two names and perhaps a weight; ``#`` begins a comment."""
    graph: networkx.Graph[Any] = networkx.Graph()
    for number, line in enumerate(_lines(raw), 1):
        words = line.split("#", 1)[0].replace(",", " ").split()
        if words and len(words) not in (2, 3):
            raise DataError(
                f"line {number} must have two nodes and a weight at most, {line.strip()!r} is there"
            )
        if words:
            _add(graph, words[0], words[1], words[2] if len(words) == 3 else 1.0)
    return graph


def _gset(raw: bytes) -> networkx.Graph[Any]:
    """The numbers of nodes and edges, then an edge a line with its weight; nodes count from 1."""
    rows = [line.split() for line in _lines(raw) if line.strip()]
    if not rows or len(rows[0]) != 2:
        raise DataError("its first line must have the numbers of nodes and edges")
    nodes, edges = map(int, rows[0])
    return _numbered(nodes, edges, rows[1:])


def _dimacs(raw: bytes) -> networkx.Graph[Any]:
    """``c`` comments, ``p edge n m``, then ``e i j`` or ``e i j weight``; nodes count from 1."""
    rows = [line.split() for line in _lines(raw)]
    head = next((row for row in rows if row and row[0] == "p"), None)
    if head is None or len(head) != 4:
        raise DataError("it must have a line 'p edge NODES EDGES'")
    edges = [row[1:] for row in rows if row and row[0] in ("e", "a")]
    if any(row[0] == "a" for row in rows if row):
        raise DataError("it must be undirected, it has arcs (lines that begin with a)")
    # Some collections count every edge of the file twice in this line, others list it in both directions.
    return _numbered(int(head[2]), None, edges)


def _metis(raw: bytes) -> networkx.Graph[Any]:
    """``n m`` and perhaps a format, then the neighbours of each node, which count from 1; ``%`` comments."""
    rows = [line.split() for line in _lines(raw) if not line.lstrip().startswith("%")]
    if not rows or len(rows[0]) not in (2, 3, 4):
        raise DataError("its first line must have the numbers of nodes and edges")
    nodes, edges = int(rows[0][0]), int(rows[0][1])
    code = rows[0][2].zfill(3) if len(rows[0]) > 2 else "000"
    skipped = int(code[0]) + (int(rows[0][3]) if len(rows[0]) > 3 else 1) * int(code[1])
    step = 2 if code[2] == "1" else 1
    lists = rows[1 : nodes + 1]
    if len(lists) < nodes:
        raise DataError(f"it must have a line for each of {nodes} nodes, it has {len(lists)}")
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
    return _numbered(nodes, edges, [row for row in listed if int(row[0]) <= int(row[1])])


def _numbered(nodes: int, edges: int | None, rows: Sequence[Sequence[str]]) -> networkx.Graph[Any]:
    """A graph of nodes 1 to `nodes` with an edge a row."""
    if edges is not None and len(rows) != edges:
        raise DataError(f"it must have {edges} edges, it has {len(rows)}")
    graph: networkx.Graph[Any] = networkx.Graph()
    graph.add_nodes_from(range(1, nodes + 1))
    for row in rows:
        if len(row) not in (2, 3):
            raise DataError(f"an edge must have two nodes and perhaps a weight, {' '.join(row)!r} was given")
        one, other = int(row[0]), int(row[1])
        if not 1 <= min(one, other) <= max(one, other) <= nodes:
            raise DataError(f"its nodes must be from 1 to {nodes}, the edge {one}-{other} was given")
        _add(graph, one, other, row[2] if len(row) == 3 else 1.0)
    return graph


def _add(graph: networkx.Graph[Any], one: Any, other: Any, weight: Any) -> None:
    value = float(weight)
    if graph.has_edge(one, other) and graph[one][other]["weight"] != value:
        raise DataError(f"the edge {one}-{other} must have one weight, it has two")
    graph.add_edge(one, other, weight=value)


def _parsed(parse: Callable[[Iterable[str]], Any]) -> Callable[[bytes], networkx.Graph[Any]]:
    return lambda raw: parse(_lines(raw))


FORMATS: dict[str, Callable[[bytes], Any]] = {
    "edge_list": _edge_list,
    "dimacs": _dimacs,
    "gset": _gset,
    "metis": _metis,
    "adjacency_list": _parsed(networkx.parse_adjlist),
    "gml": _parsed(lambda lines: networkx.parse_gml(lines, label="id")),
    "graphml": lambda raw: networkx.read_graphml(io.BytesIO(raw)),
    "graph6": lambda raw: networkx.from_graph6_bytes(raw.strip()),
    "sparse6": lambda raw: networkx.from_sparse6_bytes(raw.strip()),
    "pajek": _parsed(networkx.parse_pajek),
}
"""From the bytes of a file to a graph of networkx, by the name of the format."""

SUFFIXES = {
    **dict.fromkeys((".col", ".clq", ".mis", ".dimacs"), "dimacs"),
    **dict.fromkeys((".graph", ".metis"), "metis"),
    **dict.fromkeys((".gset", ".rud", ".mc"), "gset"),
    **dict.fromkeys((".edgelist", ".edges"), "edge_list"),
    ".adjlist": "adjacency_list",
    ".gml": "gml",
    ".graphml": "graphml",
    ".g6": "graph6",
    ".s6": "sparse6",
    ".net": "pajek",
}
