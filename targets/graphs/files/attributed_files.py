"""Files whose nodes and edges have attributes by name: GML and GraphML."""

from __future__ import annotations

import io
from typing import Any

import networkx

from targets.datasets.files.data_error import DataError
from targets.graphs.files.numbered_files import text_lines

WEIGHT = "weight"

MEANT = (WEIGHT, "value")
"""What attributes are called, apart from capitals, that other programs take for weights."""


def gml(raw: bytes) -> networkx.Graph[Any]:
    """Nodes by their ids; raises as `_with_weights` does."""
    return _with_weights(networkx.parse_gml(text_lines(raw), label="id"))


def graphml(raw: bytes) -> networkx.Graph[Any]:
    """Nodes by their ids, with the default that the file gives to weights; raises as `_with_weights` does."""
    return _with_weights(networkx.read_graphml(io.BytesIO(raw)))


def _with_weights(graph: networkx.Graph[Any]) -> networkx.Graph[Any]:
    """The graph with the file's default as ``weight`` of the edges that have none.

    Raises:
        DataError: if an edge without a weight has another number than 1 that is meant as one.
    """
    default = graph.graph.get("edge_default", {})
    for one, other, data in graph.edges(data=True):
        if WEIGHT in default:
            data.setdefault(WEIGHT, default[WEIGHT])
        for name, value in ({**default, **data}).items() if WEIGHT not in data else ():
            if name.lower() in MEANT and isinstance(value, int | float) and value != 1:
                raise DataError(
                    f"the edge {one}-{other} has {name} and no weight: name it weight, or remove it"
                )
    return graph
