"""Best objective, gap, time to target and feasibility against loops over the draws."""

from __future__ import annotations

import math
from functools import partial

import networkx
import pytest
import torch
from torch import Tensor

from metrics import BestObjective, Feasibility, Gap, MetricSuite, TimeToTarget, UnsupportedMetric
from metrics.optimisation.incumbents import relative_gap
from samplers import RandomWalk
from samplers.kernel import Info
from targets import MIS, Bernoulli4, MaxCut, NormCut
from targets.graphs.graph_problem import GraphProblem
from tests.support.measuring import context, walk

SEEDS, CHAINS, STEPS, FIRST = 2, 3, 30, 5
GRAPH = {"nodes": 9, "degree": 3.0, "seed": 1}
PROBLEMS: dict[str, GraphProblem] = {
    "maxcut": MaxCut(GRAPH, scale=1.0),
    "mis": MIS(GRAPH, scale=1.0),
    "normcut": NormCut({"nodes": 6, "degree": 3.0, "seed": 1}, scale=2.0, parts=2),
}
METRICS = {"objective": BestObjective, "gap": Gap, "feasible": Feasibility}


def suite(target: GraphProblem, allowed: float) -> MetricSuite:
    factories = {**METRICS, "time": partial(TimeToTarget, gap=allowed)}
    return MetricSuite(context(target, SEEDS, CHAINS), factories)


def fed(measured: MetricSuite, draws: Tensor, first: int) -> MetricSuite:
    info = Info(torch.ones(SEEDS, CHAINS), torch.zeros(SEEDS, CHAINS), 3)
    for place, theta in enumerate(draws):
        measured.update(first + place, theta, info)
    return measured


def expected(target: GraphProblem, draws: Tensor, seed: int, allowed: float) -> dict[str, float]:
    """All values of a seed, chain by chain and draw by draw."""
    better = max if target.direction == "max" else min
    known = target.best_known()
    chains, repaired, hits, share = [], [], [], []
    for chain in range(CHAINS):
        found, hit, states = [], math.inf, list(draws[:, seed, chain])
        for step, state in enumerate(states, FIRST):
            if not bool(target.feasible(state)):
                continue
            found.append(float(target.objective(state)))
            worse = abs(known - better(found[-1], known)) if found[-1] == known else abs(known - found[-1])
            if worse / abs(known) <= allowed + 1e-9 and math.isinf(hit):
                hit = step
        chains.append(better(found) if found else math.nan)
        hits.append(hit)
        share.append(len(found) / len(states))
        best = max(states, key=lambda state: float(target.log_prob(state)))
        repaired.append(float(target.objective(target.repaired(best))))
    there = [one for one in chains if not math.isnan(one)]
    reached = [hit for hit in hits if not math.isinf(hit)]
    last = FIRST + STEPS - 1
    gaps = [math.inf if math.isnan(one) else abs(known - one) / abs(known) for one in chains]
    return {
        "objective": better(there) if there else math.nan,
        "objective_chains": sum(chains) / CHAINS,
        "objective_known": known,
        "objective_exact": known,
        "gap": min(gaps),
        "gap_chains": sum(gaps) / CHAINS,
        "feasible": sum(share) / CHAINS,
        "objective_repaired": better(repaired),
        "objective_repaired_chains": sum(repaired) / CHAINS,
        "time_to_target": min(hits),
        "time_to_target_evaluations": 3 * min(hits),
        "time_to_target_mean": sum(min(hit, last) for hit in hits) / len(reached) if reached else math.inf,
        "time_to_target_reached": len(reached) / CHAINS,
    }


@pytest.mark.parametrize("allowed", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("name", PROBLEMS)
def test_values_equal_loops_over_the_draws(name: str, allowed: float) -> None:
    target = PROBLEMS[name]
    draws = walk(RandomWalk(), target, STEPS, SEEDS, CHAINS)
    values = fed(suite(target, allowed), draws, FIRST).result()
    for seed in range(SEEDS):
        wanted = expected(target, draws, seed, allowed)
        assert set(values) == set(wanted)
        for key, value in wanted.items():
            assert float(values[key][seed]) == pytest.approx(value, rel=1e-9, nan_ok=True), key


def test_merged_and_restored_suites_equal_one_pass() -> None:
    target = PROBLEMS["mis"]
    draws = walk(RandomWalk(), target, STEPS, SEEDS, CHAINS)
    whole = fed(suite(target, 0.25), draws, FIRST)
    first, second = (
        fed(suite(target, 0.25), draws[:11], FIRST),
        fed(suite(target, 0.25), draws[11:], FIRST + 11),
    )
    restored = suite(target, 0.25)
    restored.load_state_dict(first.state_dict())
    first.merge(second)
    fed(restored, draws[11:], FIRST + 11)
    for key, value in whole.result().items():
        assert torch.equal(value.nan_to_num(), first.result()[key].nan_to_num()), key
        assert torch.equal(value.nan_to_num(), restored.result()[key].nan_to_num()), key


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_part_without_draws_changes_nothing(name: str) -> None:
    target = PROBLEMS[name]
    draws = walk(RandomWalk(), target, STEPS, SEEDS, CHAINS)
    whole = fed(suite(target, 0.25), draws, FIRST).result()
    first, last = fed(suite(target, 0.25), draws, FIRST), suite(target, 0.25)
    first.merge(suite(target, 0.25))
    last.merge(fed(suite(target, 0.25), draws, FIRST))
    for key, value in whole.items():
        for merged in (first, last):
            assert torch.equal(value.nan_to_num(), merged.result()[key].nan_to_num()), key


def test_chains_without_a_solution_have_none() -> None:
    target = PROBLEMS["mis"]
    full = torch.ones(STEPS, SEEDS, CHAINS, 9)
    values = fed(suite(target, 1.0), full, 1).result()
    assert bool(values["objective"].isnan().all())
    assert bool(values["gap"].isinf().all() & values["time_to_target"].isinf().all())
    assert values["time_to_target_reached"].tolist() == values["feasible"].tolist() == [0.0, 0.0]
    assert bool((values["objective_repaired"] > 0).all())


def test_refusals() -> None:
    with pytest.raises(
        UnsupportedMetric, match="objective needs a target with an objective, such as maxcut; B"
    ):
        BestObjective(context(Bernoulli4()))
    with pytest.raises(
        UnsupportedMetric, match="gap needs a problem whose optimum or best objective is known"
    ):
        Gap(context(MaxCut({"nodes": 60})))
    with pytest.raises(ValueError, match="gap must be a number from 0 to 1, 2 was given"):
        TimeToTarget(context(PROBLEMS["mis"]), gap=2)
    assert "objective_known" not in suite_of_unknown()


def suite_of_unknown() -> dict[str, Tensor]:
    target = MaxCut({"nodes": 60})
    measured = MetricSuite(context(target, SEEDS, CHAINS), {"objective": BestObjective})
    return fed(measured, walk(RandomWalk(), target, 2, SEEDS, CHAINS), 1).result()


def test_the_gap_of_the_optimum_is_zero_though_sums_of_weights_are_rounded() -> None:
    graph = networkx.Graph()
    graph.add_weighted_edges_from(
        [(0, 1, 0.1), (1, 2, 0.2), (2, 3, 0.3), (3, 4, 0.7), (4, 0, -2.83), (1, 3, 0.58)]
    )
    target = MaxCut(graph)
    states = target.space.states()
    best = float(target.objective(states).max())
    found = torch.tensor(
        [best, best * (1 + 2.0**-51), best * (1 - 2.0**-51), best * 0.999], dtype=torch.float64
    )
    gaps = relative_gap(target, best, found)
    assert gaps[:3].tolist() == [0.0, 0.0, 0.0]
    assert float(gaps[3]) == pytest.approx(1e-3)
