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
from samplers.discrete.tour_swap import TourSwap
from targets.tours.tour_density import ENCODINGS
from targets.tours.tour_space import Tours
from targets.tours.tsp import TSP
from tests.support.measuring import context, measure, silent, walk

SEEDS, CHAINS = 2, 3


def length(target: TSP, tour: tuple[int, ...]) -> float:
    return sum(target.distances[a, b].item() for a, b in zip(tour, (*tour[1:], tour[0]), strict=True))


def tours_of(target: TSP, draws: Tensor, seed: int) -> list[tuple[int, ...]]:
    """Every draw of a seed as a tuple of cities, step by step."""
    return [tuple(tour) for tour in target.tour(draws[:, seed]).flatten(0, 1).tolist()]


def differ(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def nearest(tours: set[tuple[int, ...]], other: tuple[int, ...]) -> float:
    """Mean over `tours` of the least mismatch to a rotation of `other`."""
    turned = [other[k:] + other[:k] for k in range(len(other))]
    return statistics.fmean(min(differ(tour, one) for one in turned) for tour in tours)


def result(target: TSP, draws: Tensor) -> dict[str, Tensor]:
    return measure(context(target, SEEDS, CHAINS), [TourCost, TourMismatch], draws).result()


@pytest.mark.parametrize(
    ("cities", "encoding"),
    [*((cities, encoding) for encoding in ENCODINGS for cities in (5, 9)), (8, "bits")],
)
def test_costs_and_mismatches_equal_loops_over_draws(cities: int, encoding: str) -> None:
    target = TSP(cities, encoding=encoding, scale=4.0)
    draws = walk(TourSwap(), target, 25, SEEDS, CHAINS)
    values = result(target, draws)
    if cities <= 8:
        listed = target.tours()
        every = target.distances[listed, listed.roll(-1, 1)].sum(1)
        weights = (-4.0 * every).exp() / (-4.0 * every).exp().sum()
        mean = float(weights @ every)
    for seed in range(SEEDS):
        tours = tours_of(target, draws, seed)
        costs = [length(target, tour) for tour in tours]
        best = min(tour for tour in tours if length(target, tour) < min(costs) + 1e-9)
        if cities > 8:
            # Among equals (rotations) the first chain's first.
            by_chain = [tour for chain in range(CHAINS) for tour in tours[chain::CHAINS]]
            best = min(by_chain, key=lambda tour: length(target, tour))
        expected = {
            "tour_cost": statistics.fmean(costs),
            "tour_cost_sd": statistics.pstdev(costs),
            "tour_cost_best": min(costs),
            "tour_mismatch_draws": statistics.fmean(differ(tour, best) for tour in tours),
        }
        if cities <= 8:
            distinct = [length(target, tour) for tour in set(tours)]
            assert len(distinct) < len(tours)
            others = set(tours) - {best}
            gaps = [differ(tour, best) for tour in others]
            expected |= {
                "tours_visited": len(distinct),
                "tour_cost_distinct": statistics.fmean(distinct),
                "tour_cost_distinct_sd": statistics.pstdev(distinct),
                "tour_cost_excess": min(costs) / float(every.min()) - 1,
                "tour_cost_exact": mean,
                "tour_cost_exact_sd": math.sqrt(float(weights @ (every - mean).square())),
                "tour_mismatch": statistics.fmean(gaps),
                "tour_mismatch_sd": statistics.pstdev(gaps),
                "tour_mismatch_upper": statistics.fmean(gaps) + statistics.pstdev(gaps),
                "tour_mismatch_rotated": nearest(others, best),
                "tour_mismatch_optimum": nearest(set(tours), tuple(listed[every.argmin()].tolist())),
            }
        assert {key: value[seed].item() for key, value in values.items()} == pytest.approx(expected, abs=1e-9)


def test_a_run_that_never_moves() -> None:
    target = TSP(5)
    best = target.tours()[target.cost(target.tours()).argmin()]
    values = result(target, target.state(best).expand(4, SEEDS, CHAINS, -1))
    assert values["tours_visited"].tolist() == [1.0, 1.0]
    for key in ("tour_cost_sd", "tour_cost_excess", "tour_mismatch_draws", "tour_mismatch_optimum"):
        assert values[key].tolist() == [0.0, 0.0]
    assert bool(values["tour_mismatch"].isnan().all())


@pytest.mark.parametrize("cities", [9, 12, 40])
def test_many_cities_have_no_spread_where_no_chain_moves(cities: int) -> None:
    """A cost that no binary fraction is, and costs of thousands beside which the spread is small."""
    target = TSP(cities)
    tour = target.state(torch.randperm(cities, generator=torch.Generator().manual_seed(1)))
    values = result(target, tour.expand(40, SEEDS, CHAINS, -1))
    assert values["tour_cost_sd"].tolist() == [0.0, 0.0]


def test_parts_of_a_run_keep_a_small_spread_of_long_tours() -> None:
    """Whichever cost each part began at, and from a checkpoint in the middle."""
    target, parts = TSP(9), [(0, 7), (7, 8), (8, 25)]
    target.distances.add_(1e6)  # the same for all tours
    draws = walk(TourSwap(), target, 25, SEEDS, CHAINS)
    one, *others = (
        measure(context(target, SEEDS, CHAINS), [TourCost], draws[start:end]) for start, end in parts
    )
    merged = measure(context(target, SEEDS, CHAINS), [TourCost], draws[:0])
    merged.load_state_dict(one.state_dict())
    for other in others:
        merged.merge(other)
    for seed in range(SEEDS):
        costs = [length(target, tour) for tour in tours_of(target, draws, seed)]
        for found in (merged.result(), result(target, draws)):
            assert found["tour_cost"][seed].item() == pytest.approx(statistics.fmean(costs), rel=1e-14)
            assert found["tour_cost_sd"][seed].item() == pytest.approx(statistics.pstdev(costs), rel=1e-7)


def test_among_rotations_the_first_is_the_best_and_all_are_near() -> None:
    target = TSP(6)
    tours = target.tours()
    costs = target.cost(tours)
    place = best_of(costs, torch.ones(720, dtype=torch.bool))
    assert tours[place][0].item() == 0
    assert costs[place].item() == pytest.approx(costs.min().item())
    same = torch.stack([tours[place].roll(-k) for k in range(6)])
    assert nearest_rotation(same, tours[place]).tolist() == [0.0] * 6


def test_the_table_of_visits_counts_by_rank() -> None:
    target = TSP(4)
    run, draws = context(target, SEEDS, CHAINS), walk(TourSwap(), target, 9, SEEDS, CHAINS)
    visits = run.statistic(TourVisits)
    for step, theta in enumerate(draws, 1):
        visits.update(step, theta, silent(SEEDS, CHAINS))
    for seed in range(SEEDS):
        tours = tours_of(target, draws, seed)
        assert visits.counts[seed].tolist() == [tours.count(tuple(tour)) for tour in target.tours().tolist()]
    assert visits.draws.flatten().tolist() == [9 * CHAINS] * SEEDS
    assert visits.space == Tours(4, 4)
