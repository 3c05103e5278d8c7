"""Best objectives of graphs in public collections, by name, with their numbers of nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, cycle
from typing import TypeAlias

from targets.graphs.graph import Graph

Known: TypeAlias = Mapping[str, tuple[int, int, int]]
"""Name of a graph to its numbers of nodes and of edges, and the best objective."""

_CUTS = (
    (800, 1, "19176", "11624 11620 11622 11646 11631 2178 2006 2005 2054 2000"),
    (800, 11, "1600", "564 556 582"),
    (800, 14, "4694 4661 4672 4667", "3064 3050 3052 3047 992 906 941 931"),
    (2000, 22, "19990", "13359 13344 13337 13340 13328 3341 3298 3405 3413 3310"),
    (2000, 32, "4000", "1410 1382 1384"),
    (2000, 35, "11778 11766 11785 11779", "7687 7680 7691 7688 2408 2400 2405 2481"),
    (1000, 43, "9990", "6660 6650 6654 6649 6657"),
    (3000, 48, "6000", "6000 6000 5880"),
    (1000, 51, "5909 5916 5914 5916", "3848 3851 3850 3852"),
)
"""Nodes, number of the first graph, edges of the graphs in turn, and their cuts."""

GSET: Known = {
    f"G{number}": (nodes, int(edges), int(cut))
    for nodes, first, sizes, cuts in _CUTS
    for number, edges, cut in zip(count(first), cycle(sizes.split()), cuts.split(), strict=False)
}
"""Largest known cuts of G1 to G54 of the Gset (Y. Ye), by Benlic and Hao (2013) and Ma and Hao (2017)."""

CLIQUES: Known = {
    "brock200_1": (200, 14834, 21),
    "brock200_2": (200, 9876, 12),
    "brock200_3": (200, 12048, 15),
    "brock200_4": (200, 13089, 17),
    "C125.9": (125, 6963, 34),
    "C250.9": (250, 27984, 44),
    "hamming6-2": (64, 1824, 32),
    "hamming6-4": (64, 704, 4),
    "hamming8-2": (256, 31616, 128),
    "hamming8-4": (256, 20864, 16),
    "johnson8-2-4": (28, 210, 4),
    "johnson8-4-4": (70, 1855, 14),
    "johnson16-2-4": (120, 5460, 8),
    "keller4": (171, 9435, 11),
    "MANN_a9": (45, 918, 16),
    "p_hat300-1": (300, 10933, 8),
    "p_hat300-2": (300, 21928, 25),
    "p_hat300-3": (300, 33390, 36),
    "san200_0.7_1": (200, 13930, 30),
    "sanr200_0.7": (200, 13868, 18),
}
"""Sizes of the maximum cliques of graphs of the second DIMACS challenge (Johnson and Trick 1996).

As listed by F. Mascia, DIMACS benchmark set, iridia.ulb.ac.be/~fmascia/maximum_clique/DIMACS-benchmark.
"""


def published(known: Known, name: str, graph: Graph) -> float | None:
    """The best objective of the graph `name`; None unless `graph` has its numbers of nodes and of edges."""
    nodes, edges, objective = known.get(name, (0, 0, 0))
    return float(objective) if (nodes, edges) == (graph.nodes, len(graph.edges)) else None


def published_cut(graph: Graph) -> float | None:
    """The largest known cut of a graph of the Gset, by its name, its size and its weights.

    Edges of the Gset weigh 1, or 1 and -1. In a graph whose edges all weigh 1 the largest cut has at least
    half of them; the published cuts of all others have less.
    """
    cut = published(GSET, graph.name.upper(), graph)
    if cut is None:
        return None
    negative = bool((graph.weights == -1.0).any())
    others = bool((graph.weights.abs() != 1.0).any())
    return None if others or negative != (2.0 * cut < len(graph.edges)) else cut
