"""The pairwise mismatch count of the released code of EDLP, against loops over its definition."""

from __future__ import annotations

import itertools
import statistics

import pytest
import torch

from metrics import TourPairMismatch
from metrics.metric import UnsupportedMetric
from samplers import TourSwap
from targets import TSP, ReleasedTSP
from tests.support.error_message import error_message
from tests.support.measuring import context, measure, walk

SEEDS, CHAINS = 2, 3


def differing_pairs(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Pairs of entries of the closed tours that are not equal in both."""
    one, other = (*one, one[0]), (*other, other[0])
    pairs = itertools.combinations(range(len(one)), 2)
    return sum((one[i], one[j]) != (other[i], other[j]) for i, j in pairs)


@pytest.mark.parametrize("target", [TSP(5, scale=4.0), ReleasedTSP(2.0)])
def test_it_equals_loops_over_pairs_of_entries(target: TSP | ReleasedTSP) -> None:
    draws = walk(TourSwap(), target, 25, SEEDS, CHAINS)
    values = measure(context(target, SEEDS, CHAINS), [TourPairMismatch], draws).result()
    for seed in range(SEEDS):
        tours = sorted({tuple(tour) for tour in target.tour(draws[:, seed]).flatten(0, 1).tolist()})
        costs = {tour: target.cost(torch.tensor(tour)).item() for tour in tours}
        best = min(tour for tour in tours if costs[tour] < min(costs.values()) + 1e-9)
        to_best = [differing_pairs(tour, best) for tour in tours]
        every = [differing_pairs(*pair) for pair in itertools.permutations(tours, 2)]
        mean, sd = statistics.fmean(to_best), statistics.pstdev(to_best)
        expected = {
            "tour_pair_mismatch": mean,
            "tour_pair_mismatch_sd": sd,
            "tour_pair_mismatch_upper": mean + sd,
            "tour_pair_mismatch_all": statistics.fmean(every),
            "tour_pair_mismatch_all_sd": statistics.pstdev(every),
        }
        assert {key: value[seed].item() for key, value in values.items()} == pytest.approx(expected)
        assert len(tours) > 10


def test_a_run_that_never_moves_has_no_two_tours() -> None:
    target = TSP(5)
    still = target.state(torch.arange(5)).expand(4, SEEDS, CHAINS, -1)
    values = measure(context(target, SEEDS, CHAINS), [TourPairMismatch], still).result()
    assert values["tour_pair_mismatch_upper"].tolist() == [0.0, 0.0]
    assert bool(values["tour_pair_mismatch_all"].isnan().all())
    assert bool(values["tour_pair_mismatch_all_sd"].isnan().all())


def test_more_cities_are_refused() -> None:
    said = "tour_pair_mismatch needs a target of at most 8 cities"
    target = TSP(9)
    assert error_message(UnsupportedMetric, TourPairMismatch, context(target, SEEDS, CHAINS)) == said
