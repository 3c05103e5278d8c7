"""Graphs from files: the formats that networkx reads, and those of the collections that publish problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import networkx

from targets.checks import one_of
from targets.datasets.files.data_error import DataError
from targets.datasets.files.places import file_content, given_file, one_line
from targets.graphs.files.attributed_files import gml, graphml
from targets.graphs.files.edge_lists import edge_list, require_edges_alone
from targets.graphs.files.numbered_files import dimacs, gset, metis, text_lines
from targets.graphs.files.pajek import pajek
from targets.graphs.graph import Graph, as_graph

AUTO = "auto"

MATRIX_MARKET = b"%%matrixmarket"
"""What such a file begins with; its other lines are like those of a list of edges."""


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
    if raw[:99].lstrip().lower().startswith(MATRIX_MARKET):
        raise DataError(
            f"'{path}' must be in another format than Matrix Market: {', '.join(sorted(FORMATS))}"
        )
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    name = _detected(plain, raw) if file_format == AUTO else file_format
    try:
        found = FORMATS[name](raw)
        if name == "edge_list" and file_format == AUTO:
            require_edges_alone(raw)
    except DataError as error:
        raise DataError(f"'{path}' is no {name} file: {error}") from error
    except Exception as error:  # the parsers of networkx raise whatever they trip over
        raise DataError(f"'{path}' is no {name} file: {one_line(error)}") from error
    found = _labelled(found)
    # What begins with a digit is part of a name, as in C125.9, and no suffix.
    return as_graph(found, f"'{path}'", plain.name if plain.suffix[1:2].isdigit() else plain.stem)


def _labelled(graph: networkx.Graph[Any]) -> networkx.Graph[Any]:
    """The nodes by their labels, as GML, GraphML and Pajek files may give them, where no two are the same."""
    labels = {node: str(label) for node, label in graph.nodes(data="label") if label is not None}
    if not len(set(labels.values())) == len(labels) == len(graph):
        return graph
    return networkx.relabel_nodes(graph, labels)


def _detected(path: Path, raw: bytes) -> str:
    if path.suffix.lower() in SUFFIXES:
        return SUFFIXES[path.suffix.lower()]
    rows = [line.split() for line in raw[:10_000].decode("utf-8-sig", "replace").splitlines()]
    meaning = [row for row in rows if row and row[0] not in ("c", "#")]
    if not meaning:
        return "edge_list"
    if meaning[0][0] == "p":
        return "dimacs"
    sizes, first = meaning[0], meaning[1] if len(meaning) > 1 else []
    is_gset = len(sizes) == 2 and all(map(str.isdigit, sizes)) and len(first) == 3
    return "gset" if is_gset else "edge_list"


def _one_line(read: Callable[[bytes], Any]) -> Callable[[bytes], networkx.Graph[Any]]:
    """For formats that write a graph in one line, and several graphs in several, which networkx joins."""

    def parsed(raw: bytes) -> networkx.Graph[Any]:
        lines = [line for line in raw.splitlines() if line.strip()]
        if len(lines) > 1:
            raise DataError(f"it must hold one graph, in one line, it has {len(lines)} lines")
        return read(raw.strip())

    return parsed


def _parsed(parse: Callable[[Iterable[str]], Any]) -> Callable[[bytes], networkx.Graph[Any]]:
    return lambda raw: parse(text_lines(raw))


FORMATS: dict[str, Callable[[bytes], Any]] = {
    "edge_list": edge_list,
    "dimacs": dimacs,
    "gset": gset,
    "metis": metis,
    "adjacency_list": _parsed(networkx.parse_adjlist),
    "gml": gml,
    "graphml": graphml,
    "graph6": _one_line(networkx.from_graph6_bytes),
    "sparse6": _one_line(networkx.from_sparse6_bytes),
    "pajek": pajek,
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
