"""Random graphs by networkx, from a seed: Erdos-Renyi, Barabasi-Albert, regular, and the RB model."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx
import torch

from targets.checks import one_of, whole_number, within
from targets.graphs.graph import Graph, as_graph
from targets.graphs.model_keys import CLIQUES, DEGREE, RB, TIGHTNESS
from targets.randomness import derive_seed, uniform

MOST = 20_000
"""Nodes at most: as many as the largest graph of the Gset has."""

WEIGHTS = ("ones", "signs")


def random_graph(
    model: str = "erdos_renyi",
    nodes: int = 100,
    degree: float = DEGREE,
    cliques: int = CLIQUES,
    tightness: float = TIGHTNESS,
    weights: str = "ones",
    seed: int = 0,
) -> Graph:
    """A random graph; the same for the same arguments.

    Args:
        model: ``erdos_renyi``, each pair an edge with the probability that gives the mean `degree`;
            ``barabasi_albert``, each new node attached to degree / 2 others; ``regular``, every node with
            `degree` neighbours; ``rb``, the model RB of Xu and Li (2000) as a graph: `cliques` cliques of
            nodes / cliques nodes each, which stand for the variables of a constraint problem, and edges for
            the forbidden pairs of values. A solution of the problem, if there is one, is an independent set
            with one node of every clique. There are so many constraints that one is about to be expected.
        nodes: n.
        degree: the mean degree; not read by ``rb``.
        cliques: number of cliques of ``rb``.
        tightness: share of the pairs of values that a constraint of ``rb`` forbids.
        weights: ``ones``, or ``signs``, 1 or -1 with probability 1/2 each.
        seed: of the graph.

    Raises:
        ValueError: naming the argument, the value and what is allowed.
    """
    one_of("graph.model", model, MODELS)
    one_of("graph.weights", weights, WEIGHTS)
    whole_number("graph.nodes", nodes, 2)
    whole_number("graph.seed", seed, 0)
    if nodes > MOST:
        raise ValueError(f"graph.nodes must be at most {MOST:,}, {nodes} was given")
    generator = random.Random(derive_seed(seed, f"graph/{model}"))
    if model == RB:
        drawn = _rb(nodes, cliques, tightness, generator)
    else:
        drawn = MODELS[model](nodes, within("graph.degree", degree, 0.0, nodes - 1.0), generator)
    # networkx lists nodes as edges come, which is not their order in all models.
    graph: networkx.Graph[Any] = networkx.empty_graph(nodes)
    graph.add_edges_from(drawn.edges)
    found = as_graph(graph, f"graph.model={model} with seed {seed}")
    if weights == "ones":
        return found
    signs = torch.Generator().manual_seed(derive_seed(seed, "graph/weights"))
    draws = uniform(signs, (len(found.weights),), like=found.weights)
    return replace(found, weights=(draws < 0.5).double() * 2.0 - 1.0)


def _erdos_renyi(nodes: int, degree: float, generator: random.Random) -> networkx.Graph[Any]:
    return networkx.fast_gnp_random_graph(nodes, degree / (nodes - 1), seed=generator)


def _barabasi_albert(nodes: int, degree: float, generator: random.Random) -> networkx.Graph[Any]:
    if degree < 2 or degree % 2:
        raise ValueError(
            f"graph.degree must be even and at least 2 for barabasi_albert, {degree:g} was given"
        )
    return networkx.barabasi_albert_graph(nodes, int(degree) // 2, seed=generator)


def _regular(nodes: int, degree: float, generator: random.Random) -> networkx.Graph[Any]:
    if degree < 1 or degree != int(degree) or nodes * int(degree) % 2:
        raise ValueError(
            "graph.degree must be a whole number of at least 1 for regular, even where graph.nodes is odd, "
            f"{degree:g} with {nodes} nodes was given"
        )
    return networkx.random_regular_graph(int(degree), nodes, seed=generator)


def _rb(nodes: int, cliques: int, tightness: float, generator: random.Random) -> networkx.Graph[Any]:
    """Model RB: k = n^alpha values, r n ln n constraints of tightness p with r = -alpha / ln(1 - p).

    The threshold of Xu and Li (2000), Theorem 1, at which solutions vanish.
    """
    whole_number("graph.cliques", cliques, 2)
    within("graph.tightness", tightness, 0.01, 0.99)
    if nodes % cliques or nodes // cliques < 2:
        raise ValueError(
            f"graph.nodes must be a multiple of graph.cliques={cliques}, at least twice it, {nodes} was given"
        )
    size = nodes // cliques
    graph = networkx.disjoint_union_all([networkx.complete_graph(size)] * cliques)
    constraints = round(-math.log(size) * cliques / math.log1p(-tightness))
    for _ in range(constraints):
        one, other = generator.sample(range(cliques), 2)
        for pair in generator.sample(range(size * size), round(tightness * size * size)):
            graph.add_edge(one * size + pair // size, other * size + pair % size)
    return graph


MODELS: dict[str, Callable[..., networkx.Graph[Any]]] = {
    "erdos_renyi": _erdos_renyi,
    "barabasi_albert": _barabasi_albert,
    "regular": _regular,
    RB: _rb,
}
