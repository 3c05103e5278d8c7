"""Graphs from files: each format against networkx, plain and gzipped; what is damaged is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import networkx
import pytest
import torch

from targets.datasets.dataset import DataError
from targets.graphs.files.graph_files import find_graph, read_graph
from tests.support.error_message import error_message

EDGES = [(1, 2, 3.0), (1, 4, -1.0), (2, 3, 1.0), (2, 4, 1.0), (3, 4, 2.0)]
PLAIN = [(one, other, 1.0) for one, other, _ in EDGES]
AS_THEY_COME = [(1, 2, 3.0), (1, 3, -1.0), (2, 3, 1.0), (2, 4, 1.0), (3, 4, 2.0)]
"""Nodes in the order in which a list of edges names them: 1 2 4 3."""
UNWEIGHTED = [(one, other, 1.0) for one, other, _ in AS_THEY_COME]
GRAPH = networkx.Graph()
GRAPH.add_nodes_from([1, 2, 3, 4, 5])
GRAPH.add_weighted_edges_from(EDGES)
BARE = networkx.Graph(networkx.convert_node_labels_to_integers(GRAPH))

GSET = "5 5\n1 2 3\n1 4 -1\n2 3 1\n2 4 1\n3 4 2\n"
DIMACS = "c a comment\np edge 5 5\ne 1 2 3\ne 1 4 -1\ne 2 3\ne 2 4\ne 3 4 2\n"
METIS = "% weights of the edges\n5 5 1\n2 3 4 -1\n1 3 3 1 4 1\n2 1 4 2\n1 -1 2 1 3 2\n\n"
METIS_NODES = "5 5 011 2\n9 9 2 3 4 -1\n9 9 1 3 3 1 4 1\n9 9 2 1 4 2\n9 9 1 -1 2 1 3 2\n9 9\n"
GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="edge" attr.name="weight" attr.type="double"><default>2.5</default></key>
<graph edgedefault="undirected"><node id="x"/><node id="y"/><node id="z"/>
<edge source="x" target="y"><data key="d0">3</data></edge><edge source="y" target="z"/></graph></graphml>"""
GML = 'graph [ node [ id 5 label "A" ] node [ id 7 label "B" ] edge [ source 5 target 7 value {} ] ]'
FILES = {
    "G99": (GSET, 5, EDGES),
    "own.txt": (GSET, 5, EDGES),
    "comment.txt": ("# mine\n" + GSET, 5, EDGES),
    "own.mc": (GSET, 5, EDGES),
    "own.col": (DIMACS, 5, EDGES),
    "both.clq": ("p col 5 10\n" + "".join(f"e {a} {b}\ne {b} {a}\n" for a, b, _ in EDGES), 5, PLAIN),
    "first": (DIMACS, 5, EDGES),
    "own.graph": (METIS, 5, EDGES),
    "nodes.metis": (METIS_NODES, 5, EDGES),
    "mark.edges": ("\ufeff1 2 3\n1 4 -1\n2 3\n2 4\n3 4 2\n", 4, AS_THEY_COME),
    "mark.txt": ("\ufeff" + GSET, 5, EDGES),
    "percent.edges": ("% 5 4\n// five edges\n1 2 3\n1 4 -1\n2 3\n2 4\n3 4 2\n", 4, AS_THEY_COME),
    "C125.9": ("c nothing\n" + DIMACS, 5, EDGES),
    "described.col": ("cglued\nd 1\nn 1 2\nv 3\nx y\n\n" + DIMACS + "%\n\x1a", 5, EDGES),
    "table.csv": ("1,2,3\n1,4,-1\n2,3\n2,4\n3,4,2\n", 4, AS_THEY_COME),
    "half.clq": (
        "c every edge counted twice\np col 5 10\n" + "".join(f"e {a} {b}\n" for a, b, _ in EDGES),
        5,
        PLAIN,
    ),
    "own.edgelist": ("# a list\n1 2 3\n1, 4, -1\n2 3\n2 4 # one\n3 4 2\n", 4, AS_THEY_COME),
    "own.gml": ("\n".join(networkx.generate_gml(GRAPH)), 5, EDGES),
    "own.graphml": ("\n".join(networkx.generate_graphml(GRAPH)), 5, EDGES),
    "default.graphml": (GRAPHML, 3, [(1, 2, 3.0), (2, 3, 2.5)]),
    "own.adjlist": ("\n".join(networkx.generate_adjlist(GRAPH)), 5, UNWEIGHTED),
    "own.g6": (networkx.to_graph6_bytes(BARE, header=False).decode(), 5, PLAIN),
    "own.s6": (networkx.to_sparse6_bytes(BARE).decode(), 5, PLAIN),
    "drawn.net": (
        '*Network "m"\n*Vertices 5\n1 "a b" 0.1 0.2 ic Red\n2 "a b"\n% 1 5 1\n*Arcs\n*Edges\n1 2 3 c Blue\n'
        "1 4 -1\n"
        '/* nothing */\n*Edges :2 "second"\n2 3\n2 4 1\n3 4 2\n',
        5,
        EDGES,
    ),
    "own.net": ("\n".join(networkx.generate_pajek(networkx.relabel_nodes(GRAPH, str))), 5, EDGES),
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_graph(tmp_path: Path, name: str, zipped: bool) -> None:
    text, nodes, edges = FILES[name]
    path = tmp_path / (f"{name}.gz" if zipped else name)
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    graph = read_graph(path)
    assert graph.nodes == nodes
    assert graph.name == ("C125.9" if name == "C125.9" else Path(name).stem)
    assert (graph.edges + 1).tolist() == [[one, other] for one, other, _ in edges]
    assert graph.weights.tolist() == [weight for *_, weight in edges]


@pytest.mark.parametrize("value", ["1", '"of no number"'])
def test_a_value_that_would_be_no_other_weight_is_not_refused(tmp_path: Path, value: str) -> None:
    (tmp_path / "own.gml").write_text(GML.format(value))
    assert read_graph(tmp_path / "own.gml").weights.tolist() == [1.0]


def test_a_format_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "own.data"
    path.write_text(METIS)
    assert torch.equal(
        read_graph(path, "metis").edges, torch.tensor([[0, 1], [0, 3], [1, 2], [1, 3], [2, 3]])
    )
    assert "file_format must be one of adjacency_list, auto," in error_message(
        DataError, read_graph, path, "mettis"
    )


def test_a_first_line_that_may_be_sizes_is_read_where_the_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("5 3\n1 2\n2 3\n3 4\n")
    assert len(read_graph(path, "edge_list").edges) == 4
    assert len(read_graph(path, "gset").edges) == 3


@pytest.mark.parametrize(
    "text", ["1 2\n2 3\n1 3\n", "0 3\n0 1\n1 2\n2 3\n", "a b\nb c\n", "3 2 5\n1 2 1\n2 1 1\n"]
)
def test_a_first_line_that_cannot_be_sizes_is_an_edge(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.edges"
    path.write_text(text)
    assert len(read_graph(path).edges) == len({frozenset(line.split()[:2]) for line in text.splitlines()})


def test_nodes_of_numbers_and_words_are_read_where_the_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("a1 22\n22 ff\nff a1\n")
    assert len(read_graph(path, "edge_list").edges) == 3


@pytest.mark.parametrize("text", ["source b\na target\n", "u v\nv w\n", "from target\nfrom a\n"])
def test_a_first_line_of_words_that_come_again_is_an_edge(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.edges").write_text(text)
    assert len(read_graph(tmp_path / "own.edges").edges) == 2


def test_a_header_is_refused_where_the_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("source target\n1 2\n")
    assert HEADED.format("source target") in error_message(DataError, read_graph, path, "edge_list")


@pytest.mark.parametrize("ending", [".gz", ".GZ"])
def test_a_gzipped_file_is_known_by_the_name_in_front(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"C125.9.clq{ending}"
    path.write_bytes(gzip.compress(b"p edge 3 2\ne 1 2\ne 2 3\n"))
    found = read_graph(path)
    assert (found.name, found.nodes) == ("C125.9", 3)


def test_nodes_keep_their_names(tmp_path: Path) -> None:
    path = tmp_path / "own.edges"
    path.write_text("3 1 5\n1 10 2\n10 2 7\n2 3 1\n")
    assert read_graph(path).labels == ("3", "1", "10", "2")


@pytest.mark.parametrize(
    ("second", "labels"), [("Bob", ("Al B", "Bob")), ("Al B", ("5", "7")), (None, ("5", "7"))]
)
def test_nodes_have_their_labels_where_all_differ(
    tmp_path: Path, second: str | None, labels: tuple[str, ...]
) -> None:
    (tmp_path / "own.gml").write_text(
        'graph [\n node [ id 5 label "Al B" ]\n'
        f" node [ id 7 {f'label {second!r}' if second else ''} ]\n edge [ source 5 target 7 ]\n]\n".replace(
            "'", '"'
        )
    )
    assert read_graph(tmp_path / "own.gml").labels == labels
    drawn = "" if second is None else f'2 "{second}"'
    (tmp_path / "own.net").write_text(f'*Vertices 2\n1 "Al B"\n{drawn}\n*Edges\n1 2\n')
    numbers = labels if second == "Bob" else ("1", "2")
    assert read_graph(tmp_path / "own.net").labels == numbers


def test_a_file_is_found_below_the_root(tmp_path: Path) -> None:
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "G99").write_text(GSET)
    assert find_graph("G99", str(tmp_path)) == tmp_path / "graphs" / "G99"
    said = error_message(DataError, find_graph, "G98", str(tmp_path))
    assert (
        f"file must be null or a graph's file, 'G98' was given, which is not there, nor is '{tmp_path}"
        in said
    )


SIZES = "its first line, '4 3', may be an edge or the numbers of nodes and edges: give file_format"
HEADED = "its first line, {!r}, may be a header or an edge: begin it with # if it is a header, else"
MATRIX = "%%MatrixMarket matrix coordinate pattern general\n% mine\n4 3 2\n1 2\n2 3\n"
DAMAGED = [
    ("a.gset", "", "is no gset file: its first line must have the numbers of nodes and edges"),
    ("a.gset", "5 5\n1 2 3\n1 4 -1\n", "is no gset file: it must have 5 edges, it has 2"),
    ("a.gset", "3 1\n1 4 1\n", "its nodes must be from 1 to 3, the edge 1-4 was given"),
    ("a.gset", "3 1\n1 two 1\n", "its nodes must be whole numbers, 'two' is there"),
    ("a.gset", "3 2\n1 2 1\n2 1 4\n", "the edge 2-1 must have one weight, it has two"),
    ("a.gset", "3 1\n1 2 nan\n", "must have finite numbers as weights, the edge 1-2 has nan"),
    ("a.gset", "3 1\n2 2 1\n", "must have no edge from a node to itself, node 2 has one"),
    ("a.gset", "3 0\n", "must have at least one edge, a graph of 3 nodes without was given"),
    ("a.gset", "3 3\n1 2 1\n2 3 1\n1 2 1\n", "is no gset file: its 3 edges must differ, 2 do"),
    ("a.gset", "99999999999 1\n1 2 1\n", "it must have at most 1,000,000 nodes, 99,999,999,999 are given"),
    ("a.col", "p edge 40000000 1\ne 1 2\n", "it must have at most 1,000,000 nodes, 40,000,000 are given"),
    ("a.col", "p edge 10 500\ne 1 2\ne 2 3\n", "must have 500 (or half or twice as many) edges, it has 2"),
    (
        "a.col",
        "p edge 4 1\ne 1 2\nE 2 3\n",
        "line 3 must begin with e, or with c for a comment, 'E' is there",
    ),
    ("a.graph", "3 3 1\n2 5 3 1\n1 7 3 2\n1 1 2 2\n", "the edge 2-1 must have one weight, it has two"),
    ("a.graph", "2 1\n2\n1\n1 2 junk\n", "it must have a line for each of 2 nodes, more lines are there"),
    ("a.graph", "3 2\n2\n1\n\n", "it must have 2 edges, it has 1"),
    (
        "a.txt",
        "c a\n1 2\n2 3\n3 1\n",
        "its nodes are numbers and words, such as '1' and 'c' (line 1); if that is an edge, name file_format",
    ),
    ("a.csv", "source,target\n1,2\n2,3\n", HEADED.format("source target")),
    ("a.edges", "# mine\nFrom To weight\na b 2\n", HEADED.format("From To weight")),
    ("a.csv", '"node1","node2"\n"Al","Bob"\n', HEADED.format('"node1" "node2"')),
    ("a.s6", ":Cdv\n:Ddf\n", "is no sparse6 file: it must hold one graph, in one line, it has 2 lines"),
    ("a.g6", "\nDhc\n\nDhc\n", "is no graph6 file: it must hold one graph, in one line, it has 2 lines"),
    ("a.graph", "2 1 1\n2 5\n1\n", "node 2 must have a weight for each neighbour, '1' is there"),
    ("a.mtx", MATRIX, "must be in another format than Matrix Market: adjacency_list, dimacs, edge_list,"),
    ("a.edges.gz", gzip.compress(MATRIX.encode()), "must be in another format than Matrix Market"),
    ("a.txt", "4 3\n1 2\n2 3\n3 4\n", SIZES),
    ("a.txt", "4 3\n0 1\n1 2\n2 3\n", SIZES),
    ("a.edges", "% a comment\n4 3\n1 2\n2 3\n3 4\n", SIZES),
    ("a.csv", "4,3\n1,2\n2,3\n3,4\n", SIZES),
    ("a.col", "c nothing\n", "is no dimacs file: it must have a line 'p edge NODES EDGES'"),
    ("a.col", "p edge 3 1\na 1 2\n", "it must be undirected, it has arcs (lines that begin with a)"),
    ("a.col", "p edge 3 1\ne 1\n", "an edge must have two nodes and perhaps a weight, '1' was given"),
    ("a.graph", "3 2\n2\n1 3\n\n", "it must be undirected, node 2 lists 3 and 3 does not list 2"),
    ("a.graph", "3 2\n2\n", "it must have a line for each of 3 nodes, it has 1"),
    ("a.edgelist", "1 2 3 4\n", "line 1 must have two nodes and a weight at most, '1 2 3 4' is there"),
    ("a.edgelist", "", "must have at least one edge, a graph of 0 nodes without was given"),
    ("a.edgelist", b"\xff\xfe\x00", "is no edge_list file: 'utf-8' codec can't decode"),
    ("a.gml", "graph [ node [ id 0 ", "is no gml file: "),
    ("a.gml", "\n".join(networkx.generate_gml(networkx.DiGraph([(0, 1)]))), "must be an undirected graph"),
    ("a.graphml", "<graphml", "is no graphml file: "),
    ("a.g6", "\x01\x02", "is no graph6 file: "),
    (
        "a.net",
        "*Vertices 3\n*Edgeslist\n1 2 3\n",
        "its sections must be *Vertices and *Edges, *Edgeslist is there",
    ),
    (
        "a.net",
        "*Vertices 2\n*Matrix\n0 1\n1 0\n",
        "its sections must be *Vertices and *Edges, *Matrix is there",
    ),
    (
        "a.gml",
        GML.format(4),
        "is no gml file: the edge 5-7 has value and no weight: name it weight, or",
    ),
    (
        "a.graphml",
        GRAPHML.replace('"weight"', '"Weight"'),
        "the edge x-y has Weight and no weight: name it weight",
    ),
    ("a.net", "*Vertices 3\n*Edges\n1 2\n*Arcs\n2 3 1\n", "it must be undirected, it has the arc '2 3 1'"),
    ("a.net", "*Vertices 2\n*Edges\n1 3\n", "its nodes must be from 1 to 2, the edge 1-3 was given"),
    ("a.net", "*Vertices 2\n3 c\n*Edges\n1 2\n", "its nodes must be from 1 to 2, '3 c' was given"),
    (
        "a.net",
        "*Vertices 2\n*Edges\n1 2 2,5\n",
        "the weight of the edge 1-2 must be a number, '2,5' is there",
    ),
    (
        "a.net",
        "*Vertices 2\n*Vertices 2\n",
        "it must have one line '*Vertices NODES', '*Vertices 2' is there",
    ),
    ("a.net", "*Edges\n1 2\n", "it must have a line '*Vertices NODES'"),
    ("a.net", "1 2\n", "it must begin with '*Vertices NODES', '1 2' is there"),
    ("a.net.gz", b"\x1f\x8b\x08\x00damaged", "is damaged or cannot be read"),
]


@pytest.mark.parametrize(("name", "content", "sentence"), DAMAGED, ids=[str(n) for n in range(len(DAMAGED))])
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, content: str | bytes, sentence: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    said = error_message(DataError, read_graph, path)
    assert sentence in said
    assert said.startswith(f"'{path}'")
