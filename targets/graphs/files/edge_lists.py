"""Lists of edges as text, and what is refused of them since it may be none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import networkx

from targets.datasets.files.data_error import DataError
from targets.graphs.files.numbered_files import add_edge, text_lines

HEADER = frozenset(
    (
        *("source", "target", "source_id", "target_id", "src", "dst", "from", "to", "from_node", "to_node"),
        *("fromnode", "tonode", "fromnodeid", "tonodeid", "node1", "node2", "node_1", "node_2"),
        *("vertex1", "vertex2", "id1", "id2", "head", "tail", "start", "end", "u", "v", "i", "j"),
    )
)
"""Names of the columns of nodes, in small letters."""


def _rows(raw: bytes) -> Iterator[tuple[int, list[str]]]:
    """The lines of a list of edges that are no comments: number and words."""
    for number, line in enumerate(text_lines(raw), 1):
        words = line.split("#", 1)[0].replace(",", " ").split()
        if words and not words[0].startswith(("%", "//")):
            yield number, words


def edge_list(raw: bytes) -> networkx.Graph[Any]:
    """An edge a line: two names and perhaps a weight; ``#``, or ``%`` or ``//`` first, is a comment.

    Raises:
        DataError: if a line is none, or the first one is a header.
    """
    _require_no_header([words for _, words in _rows(raw)])
    graph: networkx.Graph[Any] = networkx.Graph()
    for number, words in _rows(raw):
        if len(words) not in (2, 3):
            raise DataError(
                f"line {number} must have two nodes and a weight at most, {' '.join(words)!r} is there"
            )
        add_edge(graph, words[0], words[1], words[2] if len(words) == 3 else 1.0)
    return graph


def _require_no_header(rows: Sequence[Sequence[str]]) -> None:
    first = [word.strip("'\"") for word in rows[0][:2]] if rows else []
    again = {name for row in rows[1:] for name in row[:2]}
    if len(first) == 2 and all(word.lower() in HEADER and word not in again for word in first):
        raise DataError(
            f"its first line, {' '.join(rows[0])!r}, may be a header or an edge: begin it with # if it is a "
            "header, else let another edge be the first"
        )


def require_edges_alone(raw: bytes) -> None:
    """Refuses what an edge list may have by mistake: other words, or the numbers of nodes and edges.

    Raises:
        DataError: naming the line, and how to say what it is.
    """
    rows = list(_rows(raw))
    lines: dict[str, int] = {}
    for number, words in rows:
        for name in words[:2]:
            lines.setdefault(name, number)
    others = [name for name in lines if not name.lstrip("-").isdigit()]
    if others and len(others) < len(lines):
        whole = next(name for name in lines if name not in others)
        raise DataError(
            f"its nodes are numbers and words, such as {whole!r} and {others[0]!r} (line "
            f"{lines[others[0]]}); if that is an edge, name file_format=edge_list, else begin the line with #"
        )
    if others or not rows or len(rows[0][1]) != 2:
        return
    nodes, edges = map(int, rows[0][1])
    names = [int(name) for _, words in rows[1:] for name in words[:2]]
    numbered = any(all(first <= name < first + nodes for name in names) for first in (0, 1))
    if edges == len(rows) - 1 and numbered and edges <= nodes * (nodes - 1) // 2:
        raise DataError(
            f"its first line, '{nodes} {edges}', may be an edge or the numbers of nodes and edges: give "
            "file_format=edge_list in the first case, file_format=gset in the second"
        )
