"""Cuts, independent sets, cliques, partitions: U, gradient and differences by loops, and their optima."""

from __future__ import annotations

import inspect
import itertools
import random
from pathlib import Path
from typing import Any

import networkx
import pytest
import torch
from torch import Tensor

from targets import MIS, HasObjective, MaxClique, MaxCut, NormCut
from targets.graphs.best_known import CLIQUES, GSET
from targets.graphs.graph_problem import GraphProblem
from targets.graphs.model_keys import unread_keys
from targets.graphs.random_graphs import MODELS, random_graph
from tests.support.error_message import error_message

SMALL = {"model": "erdos_renyi", "nodes": 7, "degree": 3.0, "seed": 5}
PROBLEMS: dict[str, GraphProblem] = {
    "maxcut": MaxCut(SMALL, scale=0.7),
    "maxcut_signs": MaxCut({**SMALL, "weights": "signs"}, scale=0.7),
    "mis": MIS(SMALL, scale=0.7, penalty=1.3),
    "max_clique": MaxClique(SMALL, scale=0.7, penalty=1.3),
    "normcut": NormCut(SMALL, scale=3.0),
    "normcut_3": NormCut(SMALL, scale=3.0, parts=3, penalty=2.5),
}


def value(problem: GraphProblem, state: Tensor) -> tuple[float, float]:
    """The objective and the number of violations, weighted by nothing, of one state: loops over pairs."""
    weight = {
        frozenset(edge): w
        for edge, w in zip(problem.graph.edges.tolist(), problem.graph.weights.tolist(), strict=True)
    }
    nodes = range(problem.graph.nodes)
    pairs = [frozenset(pair) for pair in itertools.combinations(nodes, 2)]
    if isinstance(problem, NormCut):
        part = state.argmax(-1).tolist()
        total, empty = 0.0, 0
        for k in range(problem.parts):
            volume = sum(w for edge, w in weight.items() for node in edge if part[node] == k)
            cut = sum(w for edge, w in weight.items() if sum(part[node] == k for node in edge) == 1)
            total += cut / volume if volume else 0.0
            empty += not volume
        return total, empty
    bits = state.tolist()
    if isinstance(problem, MaxCut):
        return sum(w for edge, w in weight.items() if len({bits[node] for node in edge}) == 2), 0
    inside = [pair for pair in pairs if all(bits[node] for node in pair)]
    clique = isinstance(problem, MaxClique)
    return sum(bits), sum((pair in weight) != clique for pair in inside)


def energy(problem: GraphProblem, state: Tensor) -> float:
    objective, violations = value(problem, state)
    sign = 1.0 if problem.direction == "max" else -1.0
    return problem.scale * (sign * objective - getattr(problem, "penalty", 0.0) * violations)


def some_states(problem: GraphProblem, number: int = 60) -> Tensor:
    states = problem.space.states()
    chosen = torch.randperm(len(states), generator=torch.Generator().manual_seed(0))[:number]
    return torch.cat([states[:1], states[chosen], states[-1:]])


@pytest.mark.parametrize("name", PROBLEMS)
def test_energy_objective_and_feasibility_are_those_of_loops(name: str) -> None:
    problem = PROBLEMS[name]
    assert isinstance(problem, HasObjective)
    states = some_states(problem)
    expected = torch.tensor([energy(problem, state) for state in states], dtype=torch.float64)
    torch.testing.assert_close(problem.log_prob(states), expected, rtol=0, atol=1e-12)
    found = [value(problem, state) for state in states]
    objectives = torch.tensor([objective for objective, _ in found], dtype=torch.float64)
    torch.testing.assert_close(problem.objective(states), objectives, rtol=0, atol=1e-12)
    assert problem.feasible(states).tolist() == [violations == 0 for _, violations in found]


@pytest.mark.parametrize("name", PROBLEMS)
def test_differences_are_those_of_all_single_moves(name: str) -> None:
    problem = PROBLEMS[name]
    states = some_states(problem).reshape(2, -1, *problem.space.event_shape)
    value, changes = problem.log_prob_and_differences(states)
    torch.testing.assert_close(value, problem.log_prob(states))
    levels = problem.space.to_levels(states)
    for node in range(problem.space.d):
        for level in range(problem.space.levels):
            moved = levels.clone()
            moved[..., node] = level if problem.space.event_shape[1:] else 1 - moved[..., node]
            there = problem.log_prob(problem.space.from_levels(moved, torch.float64))
            change = changes[..., node, level] if problem.space.event_shape[1:] else changes[..., node]
            torch.testing.assert_close(there - value, change, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_gradient_is_that_of_the_function_of_real_numbers(name: str) -> None:
    """Of the docstrings, written with dense matrices and differentiated by autograd; no part is empty."""
    problem = PROBLEMS[name]
    A = torch.zeros(problem.graph.nodes, problem.graph.nodes, dtype=torch.float64)
    A[tuple(problem.graph.edges.T)] = problem.graph.weights
    A = A + A.T
    states = some_states(problem)
    states = states[problem.feasible(states)] if isinstance(problem, NormCut) else states

    def extension(theta: Tensor) -> Tensor:
        if isinstance(problem, NormCut):
            inside = torch.einsum("bik,ij,bjk->bk", theta, A, theta)
            return -problem.scale * (1 - inside / torch.einsum("bik,ij->bk", theta, A)).sum(-1)
        if isinstance(problem, MaxCut):
            return problem.scale * torch.einsum("bi,ij,bj->b", theta, A, 1 - theta)
        conflict = (
            (A != 0).double() if isinstance(problem, MIS) else 1 - (A != 0).double() - torch.eye(len(A))
        )
        pairs = torch.einsum("bi,ij,bj->b", theta, conflict, theta) / 2
        return problem.scale * (theta.sum(-1) - problem.penalty * pairs)

    leaf = states.clone().requires_grad_()
    (expected,) = torch.autograd.grad(extension(leaf).sum(), leaf)
    torch.testing.assert_close(problem.log_prob_and_grad(states)[1], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_optimum_is_the_best_of_all_states(name: str) -> None:
    problem = PROBLEMS[name]
    states = problem.space.states()
    found = problem.objective(states)[problem.feasible(states)]
    best = problem.optimum()
    if name == "normcut_3":
        assert best is None
        return
    assert best == pytest.approx(float(found.max() if problem.direction == "max" else found.min()), abs=1e-9)
    # The penalty is large enough for the most likely state to be a solution.
    mode = states[problem.log_prob(states).argmax()]
    assert bool(problem.feasible(mode))
    assert float(problem.objective(mode)) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
def test_repair_gives_solutions_and_leaves_maximal_solutions_as_they_are(name: str) -> None:
    problem = PROBLEMS[name]
    states = problem.space.states()
    repaired = problem.repaired(states)
    assert bool(problem.space.contains(repaired).all())
    assert bool(problem.feasible(repaired).all())
    feasible = problem.feasible(states)
    gain = problem.objective(repaired[feasible]) - problem.objective(states[feasible])
    assert bool((gain >= 0).all() if problem.direction == "max" else (gain == 0).all())
    assert torch.equal(problem.repaired(repaired), repaired)


def test_repair_does_not_empty_a_part_to_fill_another() -> None:
    """Two pairs of nodes in four parts: a node that is alone in its part could move as cheaply."""
    graph: networkx.Graph[int] = networkx.empty_graph(4)
    graph.add_edges_from([(0, 3), (1, 2)])
    problem = NormCut(graph, parts=4)
    assert bool(problem.feasible(problem.repaired(problem.space.states())).all())


@pytest.mark.parametrize("name", ["maxcut", "mis", "max_clique", "normcut"])
def test_numbers_do_not_depend_on_the_batch(name: str) -> None:
    problem = type(PROBLEMS[name])({"nodes": 60, "degree": 7.0}, scale=0.3).float()
    assert problem.batch_invariant
    states = problem.space.initial((3, 7), torch.Generator().manual_seed(1), like=torch.empty(0))
    value, grad = problem.log_prob_and_grad(states)
    for seed in range(3):
        alone, its_grad = problem.log_prob_and_grad(states[seed : seed + 1, :5])
        assert torch.equal(alone[0], value[seed, :5])
        assert torch.equal(its_grad[0], grad[seed, :5])


def test_optimum_of_larger_graphs_is_that_of_networkx() -> None:
    for seed in range(3):
        spec = {"nodes": 24, "degree": 9.0, "seed": seed}
        graph: networkx.Graph[Any] = networkx.Graph(random_graph(**spec).edges.tolist())
        clique, _ = networkx.max_weight_clique(graph, weight=None)
        assert MaxClique(spec).best_known() == len(clique)
        independent, _ = networkx.max_weight_clique(networkx.complement(graph), weight=None)
        isolated = 24 - len(graph)
        assert MIS(spec).best_known() == len(independent) + isolated


def test_published_cuts_are_those_of_a_graph_with_its_name_size_and_weights() -> None:
    graph = networkx.gnm_random_graph(800, 19176, seed=0)
    signed = graph.copy()
    for place, (_, _, edge) in enumerate(signed.edges(data=True)):
        edge["weight"] = 1 - 2 * (place % 2)
    tripled = graph.copy()
    networkx.set_edge_attributes(tripled, 3, "weight")
    for name, unit, with_signs in (("G1", 11624.0, None), ("g10", None, 2000.0), ("G11", None, None)):
        for each, best in ((graph, unit), (signed, with_signs), (tripled, None)):
            each.name = name
            assert MaxCut(each).best_known() == best
    assert len(GSET) == 54
    assert (GSET["G21"], GSET["G54"]) == ((800, 4667, 931), (1000, 5916, 3852))


@pytest.mark.parametrize(("name", "sides", "nearest"), [("hamming6-2", 6, 2), ("hamming6-4", 6, 4)])
def test_a_published_size_is_that_of_the_graph_and_of_no_other(name: str, sides: int, nearest: int) -> None:
    """Words of bits that differ in at least so many of them."""
    words = range(2**sides)
    graph: networkx.Graph[int] = networkx.Graph(name=name)
    graph.add_edges_from(
        pair for pair in itertools.combinations(words, 2) if (pair[0] ^ pair[1]).bit_count() >= nearest
    )
    assert MaxClique(graph).best_known() == CLIQUES[name][2]
    graph.remove_edge(*next(iter(graph.edges)))
    assert MaxClique(graph).best_known() is None


def test_an_optimum_that_is_computed_goes_before_a_published_one() -> None:
    """The pairs of eight things that share none, with one edge elsewhere: as many edges, a larger clique."""
    kneser = networkx.complement(networkx.line_graph(networkx.complete_graph(8)))
    kneser.name = "johnson8-2-4"
    assert CLIQUES["johnson8-2-4"] == (len(kneser), kneser.number_of_edges(), 4)
    assert MaxClique(kneser).best_known() == 4
    other = networkx.complete_graph(20)
    other.add_nodes_from(range(20, 28))
    other.add_edges_from(itertools.islice(itertools.product(range(20, 28), range(20)), 210 - 190))
    other.name = "johnson8-2-4"
    assert other.number_of_edges() == 210
    assert MaxClique(other).best_known() == 21


REFUSED = [
    ({"model": "erdos"}, "graph.model must be one of barabasi_albert, erdos_renyi, rb, regular, 'erdos' was"),
    ({"nodes": 1}, "graph.nodes must be a whole number of at least 2, 1 was given"),
    ({"nodes": 30_000}, "graph.nodes must be at most 20,000, 30000 was given"),
    ({"degree": 200}, "graph.degree must be a number from 0 to 99, 200 was given"),
    ({"degree": 0}, "must have at least one edge, a graph of 100 nodes without was given"),
    (
        {"model": "barabasi_albert", "degree": 3},
        "graph.degree must be even and at least 2 for barabasi_albert",
    ),
    ({"model": "regular", "degree": 2.5}, "graph.degree must be a whole number of at least 1 for regular"),
    (
        {"model": "regular", "degree": 3, "nodes": 9},
        "even where graph.nodes is odd, 3 with 9 nodes was given",
    ),
    ({"model": "rb", "cliques": 7}, "graph.nodes must be a multiple of graph.cliques=7, at least twice it"),
    ({"model": "rb", "tightness": 0}, "graph.tightness must be a number from 0.01 to 0.99, 0 was given"),
    ({"weights": "random"}, "graph.weights must be one of ones, signs, 'random' was given"),
    ({"seed": -1}, "graph.seed must be a whole number of at least 0, -1 was given"),
]


@pytest.mark.parametrize(("given", "sentence"), REFUSED, ids=[str(given) for given, _ in REFUSED])
def test_a_random_graph_is_refused(given: dict[str, Any], sentence: str) -> None:
    assert sentence in error_message(ValueError, lambda: MIS(given))


def test_other_arguments_are_refused() -> None:
    assert "penalty must be a number from 1 to" in error_message(ValueError, lambda: MIS(SMALL, penalty=0.5))
    assert "parts must be at most 7, the graph's nodes with edges" in error_message(
        ValueError, lambda: NormCut(SMALL, parts=8)
    )
    signs = {**SMALL, "weights": "signs"}
    assert "graph must have no negative weights" in error_message(ValueError, lambda: NormCut(signs))
    assert "graph must be an undirected graph" in error_message(
        ValueError, lambda: MIS(networkx.DiGraph([(0, 1)]))
    )
    loop = networkx.Graph([(0, 1), (2, 2)])
    assert "no edge from a node to itself, node 2 has one" in error_message(ValueError, lambda: MIS(loop))


@pytest.mark.parametrize("model", ["erdos_renyi", "barabasi_albert", "regular", "rb"])
def test_random_graphs_come_from_their_seed(model: str) -> None:
    one, same, other = (random_graph(model, 60, cliques=12, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(one.edges, same.edges)
    assert one.edges.shape != other.edges.shape or not torch.equal(one.edges, other.edges)
    graph: networkx.Graph[Any] = networkx.Graph(one.edges.tolist())
    if model == "regular":
        assert set(dict(graph.degree).values()) == {4}
    if model == "barabasi_albert":
        assert len(one.edges) == 2 * (60 - 2)
    if model == "erdos_renyi":
        assert abs(len(one.edges) - 120) < 5 * 120**0.5
    if model == "rb":
        blocks = [range(5 * clique, 5 * clique + 5) for clique in range(12)]
        assert all(graph.has_edge(*pair) for block in blocks for pair in itertools.combinations(block, 2))
        assert MIS(graph=graph).log_prob(torch.zeros(60)) == 0


@pytest.mark.parametrize("model", MODELS)
def test_a_model_does_not_read_what_is_said_of_it(model: str) -> None:
    plain = random_graph(model, 60)
    for key, default in unread_keys(model).items():
        assert inspect.signature(random_graph).parameters[key].default == default
        assert torch.equal(random_graph(model, 60, **{key: 2 * default}).edges, plain.edges)
    for key in {"degree", "cliques", "tightness"} - set(unread_keys(model)):
        changed = random_graph(model, 60, **{key: {"cliques": 12, "tightness": 0.5, "degree": 6.0}[key]})
        assert changed.edges.shape != plain.edges.shape


@pytest.mark.parametrize("weights", ["ones", "signs"])
def test_a_cut_is_the_sum_of_its_pairwise_terms(weights: str) -> None:
    problem = MaxCut({**SMALL, "weights": weights}, scale=0.7).double()
    terms, states = problem.pairwise_terms(), problem.space.states()
    agree = states[:, terms.edges[:, 0]] == states[:, terms.edges[:, 1]]
    total = terms.constant + (agree * terms.couplings).sum(-1)
    torch.testing.assert_close(total, problem.log_prob(states))
    assert not bool(terms.field.any())


def test_pairwise_terms_stay_on_the_device() -> None:
    """Else every step of a cluster sampler would copy them and wait."""
    problem = MaxCut(SMALL).to("meta")
    assert problem.pairwise_terms().edges is problem.pairwise_terms().edges
    assert problem.pairwise_terms().couplings.device.type == "meta"


def test_the_objective_is_that_of_the_graphs_own_weights_in_single_precision_too() -> None:
    """Else the gap of a solution that is the optimum would not be 0."""
    graph = networkx.complete_graph(7)
    for one, other in graph.edges:
        graph[one][other]["weight"] = 0.1 + 0.7 * one + other / 3
    exact, single = MaxCut(graph), MaxCut(graph).float()
    states = single.space.states(torch.float32)
    torch.testing.assert_close(single.objective(states), exact.objective(states.double()), rtol=1e-15, atol=0)
    assert single.log_prob(states).dtype == torch.float32
    assert float(single.objective(states).max()) == pytest.approx(exact.optimum(), rel=1e-12)


def test_the_largest_clique_of_a_complete_graph_is_all_of_it() -> None:
    """No pair of nodes is excluded: the integer program has no constraints."""
    assert MaxClique(graph=networkx.complete_graph(5)).optimum() == 5


def listed(problem: GraphProblem) -> float:
    """The best objective of all feasible states."""
    states = problem.space.states()
    found = problem.objective(states)[problem.feasible(states)]
    return float(found.max() if problem.direction == "max" else found.min())


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1.0, 1e8])
@pytest.mark.parametrize("kind", [MaxCut, NormCut])
def test_the_optimum_of_any_weights_is_the_best_of_all_states(
    kind: type[MaxCut] | type[NormCut], scale: float
) -> None:
    """HiGHS takes differences below 1e-6 for none; weights of normcut need not be whole numbers."""
    for seed in range(3):
        draws, graph = random.Random(seed), networkx.gnm_random_graph(8, 14, seed=seed)
        for one, other in graph.edges:
            weight = draws.gauss(0.0, scale)
            graph[one][other]["weight"] = weight if kind is MaxCut else abs(weight)
        problem = kind(graph)
        assert problem.optimum() == pytest.approx(listed(problem), rel=1e-12)


@pytest.mark.parametrize("large", [1e5, 1e8, 1e12])
def test_the_maximum_cut_of_large_and_small_weights_is_the_best_of_all_states(large: float) -> None:
    for seed in range(6):
        draws, graph = random.Random(seed), networkx.gnm_random_graph(8, 16, seed=seed)
        for place, (one, other) in enumerate(graph.edges):
            graph[one][other]["weight"] = large if place in (3, 7) else draws.choice([-3, -2, -1, 1, 2, 3])
        problem = MaxCut(graph)
        assert problem.optimum() == listed(problem)


def test_a_graph_of_two_components_has_a_normalised_cut_of_0() -> None:
    """Rounding would make a gap of 1 or -1 of it."""
    graph = networkx.disjoint_union(networkx.complete_graph(4), networkx.complete_graph(4))
    draws = random.Random(0)
    for one, other in graph.edges:
        graph[one][other]["weight"] = draws.random()
    problem = NormCut(graph)
    assert problem.optimum() == 0.0
    assert listed(problem) == pytest.approx(0.0, abs=1e-12)


def test_the_smallest_normalised_cut_of_many_nodes_is_listed_in_groups() -> None:
    """More nodes than in one group, some without edges or with light ones; and two cliques with one edge."""
    for seed in range(3):
        draws, graph = random.Random(seed), networkx.gnm_random_graph(11, 17, seed=seed)
        graph.add_nodes_from((11, 12))
        for one, other in graph.edges:
            graph[one][other]["weight"] = draws.expovariate(1.0) ** 4
        problem = NormCut(graph)
        assert problem.optimum() == pytest.approx(listed(problem), rel=1e-9)
    joined = networkx.barbell_graph(11, 0)
    assert NormCut(joined).optimum() == pytest.approx(2 * 1 / (11 * 10 + 1), rel=1e-12)


def test_parts_of_normcut_are_refused_that_no_node_with_edges_is_left_for(tmp_path: Path) -> None:
    path = tmp_path / "own.edges"
    path.write_text("1 2\n3 4 0\n")
    said = error_message(ValueError, lambda: NormCut(file=str(path), parts=3))
    assert said == "parts must be at most 2, the graph's nodes with edges of a weight above 0, 3 was given"
    problem = NormCut(file=str(path))
    assert problem.feasible(problem.repaired(problem.initial((4,), torch.Generator()))).all()


def test_the_optimum_of_normcut_does_not_wait_for_large_weights() -> None:
    """An integer program over its possible volumes would not end."""
    graph = networkx.cycle_graph(4)
    for (one, other), weight in zip(graph.edges, (300_000, 150_000, 200_000, 100_000), strict=True):
        graph[one][other]["weight"] = weight
    problem = NormCut(graph)
    assert problem.optimum() == listed(problem)


def test_normcut_names_the_edge_that_it_cannot_serve(tmp_path: Path) -> None:
    path = tmp_path / "own.edges"
    path.write_text("7 8 0.5\n8 9 -0.3\n")
    said = error_message(ValueError, lambda: NormCut(file=str(path)))
    assert said == "file must have no negative weights for normcut, the edge 8-9 has -0.3"
    path.write_text("7 8 0\n8 9 0\n")
    said = error_message(ValueError, lambda: NormCut(file=str(path)))
    assert said == "file must have a weight above 0 for normcut, all are 0"
