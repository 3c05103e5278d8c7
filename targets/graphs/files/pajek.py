"""Pajek files: sections that begin with ``*``, of which only nodes and undirected edges are read."""

from __future__ import annotations

import re
from typing import Any

import networkx

from targets.datasets.files.data_error import DataError
from targets.graphs.files.numbered_files import node_number, numbered_graph, text_lines

NETWORK, VERTICES, EDGES = "*network", "*vertices", "*edges"

DIRECTED = ("*arcs", "*arcslist")
"""Sections that programs also write where there is nothing in them."""

VERTEX = re.compile(r'(\S+)(?:\s+(?:"([^"]*)"|(\S+)))?')
"""Number and label of a node; what follows says how it is drawn."""


def pajek(raw: bytes) -> networkx.Graph[Any]:
    """``*Vertices n`` and perhaps lines with labels, then ``*Edges`` and an edge a line with its weight.

    The nodes are the numbers from 1 to n, and a label is the attribute ``label``. Several sections of edges
    are those of one graph; a line that begins with ``%`` or ``/*`` is a comment.

    Raises:
        DataError: if it has directed edges, another section, or what `numbered_graph` does not take.
    """
    nodes, section = None, ""
    labels: list[str] = []
    edges: list[list[str]] = []
    for line in filter(None, map(str.strip, text_lines(raw))):
        words = line.split()
        if line.startswith(("%", "/*")):
            continue
        if line.startswith("*"):
            section = words[0].lower()
            if section not in (NETWORK, VERTICES, EDGES, *DIRECTED):
                raise DataError(f"its sections must be *Vertices and *Edges, {words[0]} is there")
            if section == VERTICES:
                if nodes is not None or len(words) == 1:
                    raise DataError(f"it must have one line '*Vertices NODES', {line!r} is there")
                nodes = node_number(words[1])
        elif section == VERTICES:
            labels.append(line)
        elif section == EDGES:
            edges.append(words[:3])  # what follows the weight says how the edge is drawn
        elif section in DIRECTED:
            raise DataError(f"it must be undirected, it has the arc '{line}'")
        else:
            raise DataError(f"it must begin with '*Vertices NODES', {line!r} is there")
    if nodes is None:
        raise DataError("it must have a line '*Vertices NODES'")
    graph = numbered_graph(nodes, edges)
    for line in labels:
        _add_label(graph, line)
    return graph


def _add_label(graph: networkx.Graph[Any], line: str) -> None:
    found = VERTEX.match(line)
    assert found is not None  # the line is not empty
    number, quoted, bare = found.groups()
    node = node_number(number)
    if node not in graph:
        raise DataError(f"its nodes must be from 1 to {len(graph)}, {line!r} was given")
    if quoted or bare:
        graph.nodes[node]["label"] = quoted or bare
