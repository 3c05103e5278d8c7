"""Tour cost and mismatch against loops over the draws, for few cities and for many."""

from __future__ import annotations

import math
import statistics

import pytest
import torch
from torch import Tensor

from metrics.applications.tour_cost import TourCost
from metrics.applications.tour_mismatch import TourMismatch, best_of, nearest_rotation
from metrics.applications.tour_statistics import TourVisits
from metrics.metric import UnsupportedMetric
from metrics.suite import MetricSuite
from samplers.discrete.tour_swap import TourSwap
from samplers.kernel import Info
from targets.tours.tour_space import Tours
from targets.tours.tsp import ENCODINGS, TSP
from tests.support.measuring import context, measure, silent
from tests.support.no_host_sync import NoHostSync
from tests.support.targets import Bare

SEEDS, CHAINS = 2, 3


def draws_of(target: TSP, steps: int = 25, seed: int = 0) -> Tensor:
    """A walk that comes back to some tours, ``(steps, seeds, chains, ...)``."""
    generator, beta = torch.Generator().manual_seed(seed), torch.ones((), dtype=torch.float64)
    kernel = TourSwap()
    state = kernel.init(target, target.initial((SEEDS, CHAINS), generator), beta)
    draws = []
    for _ in range(steps):
        state, _ = kernel.step(target, state, beta, generator)
        draws.append(state.theta)
    return torch.stack(draws)


def length(target: TSP, tour: tuple[int, ...]) -> float:
    there = [*tour[1:], tour[0]]
    return sum(target.distances[a, b].item() for a, b in zip(tour, there, strict=True))


def tours_of(target: TSP, draws: Tensor, seed: int) -> list[tuple[int, ...]]:
    """Every draw of a seed as a tuple of cities, step by step."""
    return [tuple(tour) for tour in target.tour(draws[:, seed]).flatten(0, 1).tolist()]


def differ(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def turned(tour: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [tour[k:] + tour[:k] for k in range(len(tour))]


def result(target: TSP, draws: Tensor) -> dict[str, Tensor]:
    return measure(context(target, SEEDS, CHAINS), [TourCost, TourMismatch], draws).result()


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("cities", [5, 8, 11])
def test_costs_equal_the_loop_over_draws(cities: int, encoding: str) -> None:
    target = TSP(cities, encoding=encoding, scale=4.0)
    draws = draws_of(target)
    values = result(target, draws)
    for seed in range(SEEDS):
        tours = tours_of(target, draws, seed)
        costs = [length(target, tour) for tour in tours]
        expected = {
            "tour_cost": statistics.fmean(costs),
            "tour_cost_sd": statistics.pstdev(costs),
            "tour_cost_best": min(costs),
        }
        if cities <= 8:
            distinct = [length(target, tour) for tour in set(tours)]
            assert len(distinct) < len(tours)
            every = [length(target, tuple(tour)) for tour in target.tours().tolist()]
            weights = [math.exp(-4.0 * cost) for cost in every]
            mean = sum(w * c for w, c in zip(weights, every, strict=True)) / sum(weights)
            square = sum(w * (c - mean) ** 2 for w, c in zip(weights, every, strict=True)) / sum(weights)
            expected |= {
                "tours_visited": len(distinct),
                "tour_cost_distinct": statistics.fmean(distinct),
                "tour_cost_distinct_sd": statistics.pstdev(distinct),
                "tour_cost_excess": min(costs) / min(every) - 1,
                "tour_cost_exact": mean,
                "tour_cost_exact_sd": math.sqrt(square),
            }
        assert set(expected) == {key for key in values if not key.startswith("tour_mismatch")}
        for key, value in expected.items():
            assert values[key][seed].item() == pytest.approx(value, abs=1e-9), key


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("cities", [5, 8, 11])
def test_mismatches_equal_the_loop_over_pairs(cities: int, encoding: str) -> None:
    target = TSP(cities, encoding=encoding, scale=4.0)
    draws = draws_of(target, seed=1)
    values = result(target, draws)
    for seed in range(SEEDS):
        tours = tours_of(target, draws, seed)
        shortest = min(length(target, tour) for tour in tours)
        best = min(tour for tour in tours if length(target, tour) < shortest + 1e-9)
        if cities > 8:
            # Among equals (rotations) the first chain's first.
            by_chain = [tours[chain::CHAINS] for chain in range(CHAINS)]
            best = min((tour for chain in by_chain for tour in chain), key=lambda tour: length(target, tour))
        expected = {"tour_mismatch_draws": statistics.fmean(differ(tour, best) for tour in tours)}
        if cities <= 8:
            others = sorted(set(tours) - {best})
            gaps = [differ(tour, best) for tour in others]
            every = [tuple(tour) for tour in target.tours().tolist()]
            optimum = min(every, key=lambda tour: length(target, tour))
            expected |= {
                "tour_mismatch": statistics.fmean(gaps),
                "tour_mismatch_sd": statistics.pstdev(gaps),
                "tour_mismatch_upper": statistics.fmean(gaps) + statistics.pstdev(gaps),
                "tour_mismatch_rotated": statistics.fmean(
                    min(differ(tour, other) for other in turned(best)) for tour in others
                ),
                "tour_mismatch_optimum": statistics.fmean(
                    min(differ(tour, other) for other in turned(optimum)) for tour in set(tours)
                ),
            }
        assert set(expected) == {key for key in values if key.startswith("tour_mismatch")}
        for key, value in expected.items():
            assert values[key][seed].item() == pytest.approx(value, abs=1e-9), key


def test_under_the_target_the_mismatch_to_any_tour_is_one_less_than_the_cities() -> None:
    """Every rotation is as likely, so that each city is equally likely everywhere, whatever the energy."""
    target = TSP(6)
    probabilities, tours = target.tour_probabilities(), target.tours()
    for other in tours[::97]:
        mean = (probabilities * (tours != other).sum(-1)).sum()
        assert mean.item() == pytest.approx(5.0, abs=1e-9)


def test_a_run_that_never_moves() -> None:
    target = TSP(5)
    best = target.tours()[target.cost(target.tours()).argmin()]
    draws = target.state(best).expand(4, SEEDS, CHAINS, -1)
    values = result(target, draws)
    assert values["tours_visited"].tolist() == [1.0, 1.0]
    assert values["tour_cost_sd"].tolist() == values["tour_cost_excess"].tolist() == [0.0, 0.0]
    assert values["tour_mismatch_draws"].tolist() == values["tour_mismatch_optimum"].tolist() == [0.0, 0.0]
    assert bool(values["tour_mismatch"].isnan().all())


def test_among_rotations_the_first_is_the_best_and_all_are_near() -> None:
    target = TSP(6)
    tours = target.tours()
    costs = target.cost(tours)
    place = best_of(costs, torch.ones(720, dtype=torch.bool))
    assert tours[place][0].item() == 0
    assert costs[place].item() == pytest.approx(costs.min().item())
    same = torch.tensor(turned(tuple(tours[place].tolist())))
    assert nearest_rotation(same, tours[place]).tolist() == [0.0] * 6


@pytest.mark.parametrize("cities", [6, 11])
def test_two_stretches_merge_and_a_checkpoint_goes_on(cities: int) -> None:
    target = TSP(cities)
    draws = draws_of(target, steps=20)
    whole = measure(context(target, SEEDS, CHAINS), [TourCost, TourMismatch], draws)
    first = measure(context(target, SEEDS, CHAINS), [TourCost, TourMismatch], draws[:8])
    second = measure(context(target, SEEDS, CHAINS), [TourCost, TourMismatch], draws[8:], first_step=9)
    again = MetricSuite(context(target, SEEDS, CHAINS), {"0": TourCost, "1": TourMismatch})
    again.load_state_dict(first.state_dict())
    for step, theta in enumerate(draws[8:], 9):
        again.update(step, theta, silent(SEEDS, CHAINS))
    first.merge(second)
    for key, value in whole.result().items():
        torch.testing.assert_close(first.result()[key], value, rtol=1e-12, atol=1e-12)
        assert torch.equal(again.result()[key], value)


def test_a_checkpoint_of_another_run_is_refused() -> None:
    one = measure(context(TSP(11), SEEDS, CHAINS), [TourCost], draws_of(TSP(11), 2))
    other = MetricSuite(context(TSP(10), SEEDS, CHAINS), {"0": TourCost})
    with pytest.raises(ValueError, match="must have the shape"):
        other.load_state_dict(one.state_dict())


@pytest.mark.parametrize("cities", [6, 11])
def test_a_seed_is_the_same_alone_and_in_company(cities: int) -> None:
    target = TSP(cities).to(torch.float32)
    draws = draws_of(target.double(), steps=15).float()
    target = target.to(torch.float32)
    together = result(target, draws)
    for seed in range(SEEDS):
        alone = measure(context(target, 1, CHAINS), [TourCost, TourMismatch], draws[:, seed : seed + 1])
        for key, value in alone.result().items():
            assert torch.equal(together[key][seed : seed + 1], value), key


@pytest.mark.parametrize("cities", [8, 11])
def test_updates_stay_on_the_device(cities: int) -> None:
    target = TSP(cities)
    draws = draws_of(target, steps=2)
    suite = MetricSuite(context(target, SEEDS, CHAINS), {"0": TourCost, "1": TourMismatch})
    info: Info = silent(SEEDS, CHAINS)
    with NoHostSync():
        for step, theta in enumerate(draws, 1):
            suite.update(step, theta, info)
    assert suite.result()["tour_cost"].shape == (SEEDS,)


def test_the_table_of_visits_counts_by_rank() -> None:
    target = TSP(4)
    run = context(target, SEEDS, CHAINS)
    draws = draws_of(target, steps=9)
    visits = run.statistic(TourVisits)
    for step, theta in enumerate(draws, 1):
        visits.update(step, theta, silent(SEEDS, CHAINS))
    for seed in range(SEEDS):
        tours = tours_of(target, draws, seed)
        listed = [tuple(tour) for tour in target.tours().tolist()]
        assert visits.counts[seed].tolist() == [tours.count(tour) for tour in listed]
    assert visits.draws.flatten().tolist() == [9 * CHAINS] * SEEDS
    assert visits.space == Tours(4, 4)


@pytest.mark.parametrize("metric", [TourCost, TourMismatch])
def test_other_targets_are_refused_in_one_sentence(metric: type) -> None:
    with pytest.raises(
        UnsupportedMetric, match=r"^tour_\w+ needs a target whose states are tours; those of Bare are"
    ):
        metric(context(Bare()))
