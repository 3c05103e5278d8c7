"""The travelling salesman: energy by a loop, gradient of the multilinear extension, tours and draws."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from targets import TSP, ExactlySampled, Streams, Tours
from targets.tours.random_cities import random_cities
from targets.tours.tour_density import ENCODINGS
from targets.tours.tour_space import HasTours, is_tour, rotations
from tests.support.error_message import error_message
from tests.support.steps.no_host_sync import NoHostSync

TOO_MANY = "the tours of 9 cities are too many to list, 8 is the limit"
FILE = """NAME: own
DIMENSION: 5
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: UPPER_ROW
EDGE_WEIGHT_SECTION
3 5 8 13
21 34 55
89 144
233
EOF
"""


def decoded(target: TSP, state: Tensor) -> list[int]:
    """The codes of one state, read as the docstring describes them."""
    if target.space.event_shape == (target.cities, target.cities):
        return [row.index(1.0) for row in state.tolist()]
    words = state.reshape(target.cities, -1).long().tolist()
    return [int("".join(map(str, word)), 2) for word in words]


def brute_force(target: TSP, state: Tensor) -> float:
    """U of one state by a loop over the positions."""
    tour = decoded(target, state)
    if sorted(tour) != list(range(target.cities)):
        return -math.inf
    lengths = target.distances.double()
    pairs = itertools.pairwise([*tour, tour[0]])
    return -target.scale * sum(lengths[a, b].item() for a, b in pairs)


def extension(target: TSP, theta: Tensor) -> Tensor:
    """-scale * sum over positions and pairs of codes of p_i(c) p_(i+1)(d) D(c, d), at any real theta."""
    n = target.cities
    if theta.shape == (n, n):
        p = theta
    else:
        bits = theta.reshape(n, -1)
        columns = []
        for word in itertools.product((0, 1), repeat=bits.shape[1]):
            factors = [bits[:, k] if bit else 1 - bits[:, k] for k, bit in enumerate(word)]
            columns.append(torch.stack(factors).prod(0))
        p = torch.stack(columns, dim=-1)
    ways = [p[i] @ target.distances @ p[(i + 1) % n] for i in range(n)]
    return -target.scale * torch.stack(ways).sum()


def random_states(target: TSP, number: int, seed: int = 0) -> Tensor:
    """Half of them tours, half anything."""
    generator = torch.Generator().manual_seed(seed)
    anything = target.space.initial((number // 2,), generator, like=target.like())
    return torch.cat([target.initial((number // 2,), generator), anything])


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("cities", [3, 5, 8])
def test_energy_equals_the_loop(cities: int, encoding: str) -> None:
    target = TSP(cities, encoding=encoding)
    states = random_states(target, 60)
    for state, value in zip(states, target.log_prob(states), strict=True):
        assert value.item() == pytest.approx(brute_force(target, state), rel=1e-13)
    assert bool(target.log_prob(states).isneginf().any())
    assert target.constrained


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("cities", [3, 5, 8])
def test_gradient_is_that_of_the_multilinear_extension(cities: int, encoding: str) -> None:
    """By central differences, which are exact along a coordinate of a multilinear function."""
    target = TSP(cities, encoding=encoding)
    states = random_states(target, 12, seed=1)
    log_prob, grad = target.log_prob_and_grad(states)
    assert torch.equal(log_prob, target.log_prob(states))
    assert bool(grad.isfinite().all())
    assert grad.shape == states.shape
    for state, value, slope in zip(states, log_prob, grad, strict=True):
        if value.isfinite():
            assert extension(target, state).item() == pytest.approx(value.item(), rel=1e-12)
        for place in itertools.product(*map(range, state.shape)):
            step = torch.zeros_like(state)
            step[place] = 0.5
            difference = extension(target, state + step) - extension(target, state - step)
            assert slope[place].item() == pytest.approx(difference.item(), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_single_precision_and_any_batch_axes(encoding: str) -> None:
    target = TSP(encoding=encoding).to(torch.float32)
    theta = target.initial((2, 3, 4), torch.Generator().manual_seed(0))
    assert theta.dtype == torch.float32
    assert theta.shape == (2, 3, 4, *target.space.event_shape)
    with NoHostSync():
        log_prob, grad = target.log_prob_and_grad(theta)
        cost = target.cost(target.tour(theta))
    assert log_prob.dtype == grad.dtype == torch.float32
    assert cost.dtype == torch.float64
    torch.testing.assert_close(cost, -log_prob.double() / target.scale, rtol=1e-6, atol=0)
    one = target.log_prob_and_grad(theta[1, 2].clone())
    assert torch.equal(one[0], log_prob[1, 2])
    assert torch.equal(one[1], grad[1, 2])


def test_a_code_that_is_no_city_is_the_furthest_away() -> None:
    target = TSP(5)
    assert target.distances.shape == (8, 8)
    assert bool((target.distances[5:] == target.distances.max()).all())
    assert bool((target.distances[:, 5:] == target.distances.max()).all())
    assert torch.equal(target.distances[:5, :5], random_cities(5, 0))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_initial_states_are_uniform_tours(encoding: str) -> None:
    """24 tours, 24,000 starts: each count within 5.6 standard deviations of 1,000, false alarm 5e-7."""
    target = TSP(4, encoding=encoding)
    theta = target.initial((24_000,), torch.Generator().manual_seed(0))
    assert bool(target.space.contains(theta).all())
    tour = target.tour(theta)
    assert torch.equal(target.state(tour), theta)
    counts = torch.bincount(Tours(4, 4).index(tour), minlength=24)
    assert float((counts - 1000).abs().max()) <= 5.6 * math.sqrt(1000)


def test_tours_are_ranked_in_lexicographic_order() -> None:
    for n in (2, 3, 5):
        space = Tours(n, n)
        states = space.states()
        assert states.tolist() == [list(map(float, p)) for p in itertools.permutations(range(n))]
        assert torch.equal(space.index(states), torch.arange(math.factorial(n)))
        assert bool(space.contains(states).all())
    assert torch.equal(Tours(8, 8).index(Tours(8, 8).states()), torch.arange(40_320))
    assert not bool(Tours(3, 3).contains(torch.tensor([0.0, 1.0, 1.0])))
    tours = torch.tensor([[2, 0, 1], [2, 0, 0], [7, 0, 1], [1, 2, 3]])
    assert is_tour(tours, 3).tolist() == [True, False, False, False]
    assert rotations(torch.tensor([2, 0, 1])).tolist() == [[2, 0, 1], [1, 2, 0], [0, 1, 2]]
    assert error_message(ValueError, Tours(9, 9).states) == TOO_MANY
    assert error_message(ValueError, Tours, 3, 4) == "a tour of 3 cities has 3 levels, levels=4 was given"


def test_the_instance_of_the_papers_size() -> None:
    """settings E.2: on the unit square, distances up to a fifth longer and not symmetric, scale 10."""
    target = TSP()
    assert (target.cities, target.scale, target.space.d) == (8, 10.0, 24)
    lengths = target.distances
    assert bool((lengths.diagonal() == 0).all())
    ratio = (lengths / lengths.T).nan_to_num(1.0)
    assert 1.01 < ratio.max().item() <= 1.2
    assert lengths.max().item() <= math.sqrt(2) * 1.2
    costs = target.cost(target.tours())
    optimum = target.optimum()
    assert optimum == costs.min().item()
    # A tour has 8 rotations, and its reverse another length.
    assert int((costs < optimum + 1e-9).sum()) == 8
    tours, probabilities = target.tours(), target.tour_probabilities()
    assert tours.shape == (40_320, 8)
    expected = target.log_prob(target.state(tours)).softmax(0)
    torch.testing.assert_close(probabilities, expected, rtol=1e-12, atol=0)
    assert torch.equal(target.to(torch.float32).tour_probabilities(), probabilities)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_exact_draws_follow_the_probabilities(encoding: str) -> None:
    """100,000 draws of 120 tours: largest distance of the distribution functions, 1e-6 (DKW)."""
    target = TSP(5, encoding=encoding, scale=3.0)
    assert isinstance(target, ExactlySampled)
    assert isinstance(target, HasTours)
    draws = target.sample((100, 1000), torch.Generator().manual_seed(0))
    place = Tours(5, 5).index(target.tour(draws)).flatten()
    frequencies = torch.bincount(place, minlength=120) / 100_000
    gap = (frequencies.cumsum(0) - target.tour_probabilities().cumsum(0)).abs().max()
    assert gap.item() <= math.sqrt(math.log(2e6) / 200_000)
    alone = target.sample((1, 3), Streams([4], "chain"))
    assert torch.equal(alone[0], target.sample((2, 3), Streams([7, 4], "chain"))[1])


def test_more_cities_have_neither_a_list_nor_exact_draws() -> None:
    target = TSP(9)
    assert not isinstance(target, ExactlySampled)
    assert target.optimum() is None
    for listed in (target.tours, target.tour_probabilities):
        assert error_message(ValueError, listed) == TOO_MANY


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_instance_from_a_file(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "tsplib").mkdir()
    (tmp_path / "tsplib" / "own.tsp").write_text(FILE)
    target = TSP(file="own.tsp", root=str(tmp_path), encoding=encoding)
    assert target.cities == 5
    assert target.space.d == (15 if encoding == "bits" else 5)
    assert target.scale == pytest.approx(10 / (2 * (3 + 5 + 8 + 13 + 21 + 34 + 55 + 89 + 144 + 233) / 20))
    assert target.cost(torch.tensor([0, 1, 2, 3, 4])).item() == 3 + 21 + 89 + 233 + 13
    best = min(target.cost(torch.tensor(p)).item() for p in itertools.permutations(range(5)))
    assert target.optimum() == best
    assert TSP(file=str(tmp_path / "tsplib" / "own.tsp"), scale=2).scale == 2.0


@pytest.mark.parametrize("cities", [2, 5])
def test_tours_by_their_ranks_are_those_that_are_listed(cities: int) -> None:
    space = Tours(cities, cities)
    assert torch.equal(space.at(torch.arange(space.size), torch.float64), space.states())
    index = torch.arange(space.size).reshape(2, -1)
    assert torch.equal(space.index(space.at(index, torch.float32)), index)
