"""Distinct places: their law, also where most of them get no random number."""

from __future__ import annotations

import itertools

import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from samplers.compiling.noted_draws import GivenDraws
from samplers.proposals.draws.distinct_places import ColumnWeights, DistinctPlaces, log_others, rows_of
from targets.randomness import uniform
from tests.support.steps.stepping import seeded

DOUBLE = torch.empty(0, dtype=torch.float64)


def columns(log_weights: Tensor, number: int) -> ColumnWeights:
    return ColumnWeights(log_weights, rows_of(log_weights.shape[-1], number))


@pytest.mark.parametrize(
    ("n", "number", "several"), [(24, 2, True), (64, 2, True), (24, 3, True), (23, 2, False), (9, 3, False)]
)
def test_the_order_is_that_of_draws_one_after_the_other(n: int, number: int, several: bool) -> None:
    """By a chi-squared test of all orders that are expected five times; false alarm 1e-6."""
    weights = uniform(seeded(n), (), (n,), like=DOUBLE).square_().add_(0.02)
    weights[3] = 0.0
    draws = 1_000_000
    drawn = DistinctPlaces(columns(weights.log().expand(draws, n), number), number, seeded(1))
    assert (drawn.rows > 1) is several
    code = (drawn.places * n ** torch.arange(number)).sum(-1)
    counts = torch.bincount(code, minlength=n**number).double()
    expected = torch.zeros(n**number, dtype=torch.float64)
    for order in itertools.permutations(range(n), number):
        left, probability = float(weights.sum()), 1.0
        for place in order:
            probability *= float(weights[place]) / left
            left -= float(weights[place])
        expected[sum(place * n**power for power, place in enumerate(order))] = draws * probability
    assert counts[expected == 0.0].sum() == 0
    often = expected >= 5.0
    rare = torch.stack([counts[~often].sum(), expected[~often].sum()])
    found, law = (
        torch.cat([each[often], rest[None]]) for each, rest in zip((counts, expected), rare, strict=True)
    )
    kept = law > 0.0
    assert chisquare(found[kept].numpy(), law[kept].numpy()).pvalue > 1e-6


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weights_far_apart_are_drawn_in_their_order(dtype: torch.dtype) -> None:
    """Each has e^50 times the weight of the next, so that no exponential of a difference is a number."""
    n, number = 96, 4
    order = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    drawn = DistinctPlaces(columns((-50.0 * order).to(dtype).expand(100, n), number), number, seeded(2))
    assert drawn.rows > 1
    assert torch.equal(drawn.places, order.argsort()[:number].expand(100, number))


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize(("n", "number"), [(64, 2), (784, 9), (23, 2), (9, 9)])
def test_the_weight_of_the_others_is_that_of_all_but_those_taken(
    n: int, number: int, elsewhere: bool
) -> None:
    """By the weights that they were drawn by, and by those of another state."""
    log_weights = 5.0 * uniform(seeded(3), (2, 50), (n,), like=DOUBLE)
    log_weights[..., ::7] = -torch.inf
    taken = uniform(seeded(4), (2, 50), (number,), like=DOUBLE) < 0.6
    weights = columns(log_weights, number)
    drawn = DistinctPlaces(weights, number, seeded(5))
    if elsewhere:
        log_weights = 5.0 * uniform(seeded(6), (2, 50), (n,), like=DOUBLE)
        weights = columns(log_weights, number)
    gone = torch.zeros(2, 50, n).scatter_(-1, drawn.places, taken.float()).bool()
    expected = log_weights.masked_fill(gone, -torch.inf).logsumexp(-1, keepdim=True)
    torch.testing.assert_close(drawn.log_others(weights, taken), expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(log_others(log_weights, drawn.places, taken), expected, rtol=1e-12, atol=1e-12)


def test_places_are_distinct_where_few_have_weight() -> None:
    """And those with weight come first."""
    log_weights = torch.full((200, 96), -torch.inf)
    log_weights[:, [5, 60]] = 0.0
    places = DistinctPlaces(columns(log_weights, 4), 4, seeded(6)).places
    assert (places[:, :2].sort(-1).values == torch.tensor([5, 60])).all()
    assert (places.sort(-1).values.diff(dim=-1) > 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_place_without_weight_is_not_drawn_before_one_with_weight(dtype: torch.dtype) -> None:
    """Not even where a uniform number is 0, whose logarithm is infinite."""
    log_weights = torch.full((50, 96), -torch.inf, dtype=dtype)
    log_weights[:, :4] = torch.tensor([0.0, -3.0, 2.0, 1.0], dtype=dtype)
    zeros = GivenDraws(iter([torch.zeros(50, 32, dtype=dtype), torch.zeros(50, 3, 4, dtype=dtype)]))
    places = DistinctPlaces(columns(log_weights, 4), 4, zeros).places
    assert (places.sort(-1).values == torch.arange(4)).all()
