"""Slow: annealed runs find the exact optimum of every graph of at most 30 nodes in a set of them."""

from __future__ import annotations

from typing import Any

import networkx
import pytest
import torch

from metrics import Gap, MetricSuite
from metrics.metric import Context
from samplers import DMALA, GWG, SimulatedAnnealing
from targets import MIS, MaxClique, MaxCut, NormCut, Streams
from targets.graphs.graph_problem import GraphProblem
from tests.support.steps.stepping import started

STEPS, CHAINS = 3000, 100
DRAWN: list[dict[str, Any]] = [
    {"model": "erdos_renyi", "nodes": 30, "degree": 4.0},
    {"model": "erdos_renyi", "nodes": 24, "degree": 9.0},
    {"model": "barabasi_albert", "nodes": 30, "degree": 4.0},
    {"model": "regular", "nodes": 30, "degree": 3.0},
    {"model": "rb", "nodes": 30, "cliques": 6},
]
NAMED = [
    networkx.petersen_graph(),
    networkx.dodecahedral_graph(),
    networkx.icosahedral_graph(),
    networkx.karate_club_graph().subgraph(range(30)),
    networkx.complete_bipartite_graph(12, 14),
]
GRAPHS: dict[str, Any] = {f"{spec['model']}_{spec['nodes']}": spec for spec in DRAWN}
for number, graph in enumerate(NAMED):
    GRAPHS[f"named_{number}"] = networkx.Graph(graph.edges)  # without the weights of the karate club


def problem(kind: str, graph: Any) -> GraphProblem:
    return {"maxcut": MaxCut, "mis": MIS, "max_clique": MaxClique, "normcut": NormCut}[kind](graph)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["maxcut", "mis", "max_clique", "normcut"])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_optimum_is_found(name: str, kind: str) -> None:
    target = problem(kind, GRAPHS[name])
    base = DMALA(0.3) if kind == "normcut" else GWG()
    kernel = SimulatedAnnealing(base, STEPS, "geometric", 0.02, 2.0).to(target.like())
    streams, one = Streams([0], "chain"), torch.ones(())
    state = started(kernel, target, (1, CHAINS), Streams([0], "start"))
    suite = MetricSuite(Context(target, kernel, 1, CHAINS, torch.device("cpu")), {"gap": Gap})
    for step in range(1, STEPS + 1):
        state, info = kernel.step(target, state, one, streams)
        suite.update(step, kernel.draws(state), info)
        if step % 200 == 0 and float(suite.result()["gap"]) <= 1e-9:
            break
    assert float(suite.result()["gap"]) == pytest.approx(0.0, abs=1e-6)
