"""Best objectives of graphs in public collections, by name, with the number of nodes: (nodes, objective)."""

from __future__ import annotations

_CUTS = {
    (800, 1): "11624 11620 11622 11646 11631 2178 2006 2005 2054 2000 564 556 582",
    (800, 14): "3064 3050 3052 3047 992 906 941 931",
    (2000, 22): "13359 13344 13337 13340 13328 3341 3298 3405 3413 3310 1410 1382 1384",
    (2000, 35): "7687 7680 7691 7688 2408 2400 2405 2481",
    (1000, 43): "6660 6650 6654 6649 6657",
    (3000, 48): "6000 6000 5880",
    (1000, 51): "3848 3851 3850 3852",
}
"""By number of nodes and number of the first graph."""

GSET = {
    f"G{number}": (nodes, int(cut))
    for (nodes, first), cuts in _CUTS.items()
    for number, cut in enumerate(cuts.split(), first)
}
"""Largest known cuts of G1 to G54 of the Gset (Y. Ye), by Benlic and Hao (2013) and Ma and Hao (2017)."""

CLIQUES = {
    "brock200_1": (200, 21),
    "brock200_2": (200, 12),
    "brock200_3": (200, 15),
    "brock200_4": (200, 17),
    "C125.9": (125, 34),
    "C250.9": (250, 44),
    "hamming6-2": (64, 32),
    "hamming6-4": (64, 4),
    "hamming8-2": (256, 128),
    "hamming8-4": (256, 16),
    "johnson8-2-4": (28, 4),
    "johnson8-4-4": (70, 14),
    "johnson16-2-4": (120, 8),
    "keller4": (171, 11),
    "MANN_a9": (45, 16),
    "p_hat300-1": (300, 8),
    "p_hat300-2": (300, 25),
    "p_hat300-3": (300, 36),
    "san200_0.7_1": (200, 30),
    "sanr200_0.7": (200, 18),
}
"""Sizes of the maximum cliques of graphs of the second DIMACS challenge (Johnson and Trick 1996).

As listed by F. Mascia, DIMACS benchmark set, iridia.ulb.ac.be/~fmascia/maximum_clique/DIMACS-benchmark.
"""
