"""Moves between tours: exactness by enumeration over the permutations, in both encodings, and in a ladder."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import invariance_error, transition_matrix
from runner.tools.exactness.small_tours import SmallTours
from samplers import Gibbs, ParallelTempering, State, TourSwap
from samplers.discrete.tour_swap import MOVES
from targets import TSP, Streams, Tours
from targets.tours.tour_density import ENCODINGS
from tests.support.checks import dkw_band, invariance, largest_gap
from tests.support.steps.stepping import ONE, seeded
from tests.support.targets.small_targets import SPACES, random_target

BETAS = (1.0, 0.5, 0.1, 0.0)


def small(cities: int, encoding: str = "bits") -> TSP:
    """Lengths that differ by about a nat, so that every move has some chance."""
    return TSP(cities, encoding=encoding, scale=3.0, instance_seed=1)


def tour_matrix(kernel: TourSwap, target: TSP, beta: float) -> tuple[Tensor, Tensor]:
    """P over the permutations alone, and their tempered distribution."""
    states, size = target.state(target.tours()), len(target.tours())
    tempered = torch.tensor(beta, dtype=torch.float64)
    start = kernel.init(target, states, tempered)
    event = states.shape[1:]
    source = State(
        states.unsqueeze(1).expand(size, size, *event), start.log_prob.unsqueeze(1).expand(size, size)
    )
    matrix = kernel.log_transition(target, source, states.expand(size, size, *event), tempered).exp()
    return matrix, (beta * start.log_prob).softmax(-1)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("cities", [3, 4])
@pytest.mark.parametrize("moves", MOVES)
def test_the_tempered_distribution_of_tours_is_left_invariant(moves: str, cities: int, encoding: str) -> None:
    kernel, target = TourSwap(moves), small(cities, encoding)
    assert kernel.exact
    for beta in BETAS:
        matrix, distribution = tour_matrix(kernel, target, beta)
        assert float((matrix.sum(-1) - 1).abs().max()) <= 1e-12
        assert invariance_error(matrix, distribution) <= 1e-12
        flow = distribution.unsqueeze(-1) * matrix
        assert float((flow - flow.T).abs().max()) <= 1e-12
        # Irreducible: every tour is reached from every other.
        assert bool((torch.linalg.matrix_power(matrix, cities * (cities - 1)) > 0).all())


@pytest.mark.parametrize(("cities", "encoding"), [(3, "one_hot"), (4, "bits")])
def test_among_all_states_of_the_space_too(cities: int, encoding: str) -> None:
    """What is no tour has no weight, and a chain that stands on one stays."""
    target = small(cities, encoding)
    matrix = transition_matrix(TourSwap(), target, 0.5)
    no_tour = target.log_prob(target.space.states()).isneginf()
    assert int(no_tour.sum()) == target.space.size - len(target.tours())
    assert torch.equal(matrix[no_tour], torch.eye(len(matrix), dtype=torch.float64)[no_tour])
    for beta in BETAS[:-1]:
        assert invariance(TourSwap(), target, beta) <= 1e-12


@pytest.mark.parametrize(("moves", "encoding"), [("swap", "bits"), ("reverse", "bits"), ("both", "one_hot")])
def test_a_step_draws_from_the_enumerated_row(moves: str, encoding: str) -> None:
    """20,000 draws from each of 24 tours; false alarm 1e-6 (DKW)."""
    target, kernel, draws = small(4, encoding), TourSwap(moves), 20_000
    matrix, _ = tour_matrix(kernel, target, 0.7)
    states = target.state(target.tours())
    theta = states.unsqueeze(1).expand(24, draws, *states.shape[1:]).contiguous()
    beta = torch.tensor(0.7, dtype=torch.float64)
    after, _ = kernel.step(target, kernel.init(target, theta, beta), beta, seeded(0))
    place = Tours(4, 4).index(target.tour(after.theta)) + 24 * torch.arange(24).unsqueeze(-1)
    frequencies = torch.bincount(place.flatten(), minlength=576).reshape(24, 24).double() / draws
    assert largest_gap(frequencies, matrix) <= dkw_band(draws, 24) < 0.022


@pytest.mark.parametrize("moves", MOVES)
def test_the_moves_are_those_described(moves: str) -> None:
    """At beta = 0 everything is accepted: the proposal alone, by brute force over pairs."""
    target = small(5)
    matrix, _ = tour_matrix(TourSwap(moves), target, 0.0)
    tours = [tuple(tour) for tour in target.tours().tolist()]
    expected = torch.zeros_like(matrix)
    for row, tour in enumerate(tours):
        for i in range(5):
            for j in range(i + 1, 5):
                swapped = list(tour)
                swapped[i], swapped[j] = tour[j], tour[i]
                turned = (*tour[:i], *tour[i : j + 1][::-1], *tour[j + 1 :])
                for kind, there in (("swap", tuple(swapped)), ("reverse", turned)):
                    if moves in (kind, "both"):
                        expected[row, tours.index(there)] += 0.05 if moves == "both" else 0.1
    assert torch.allclose(matrix, expected, rtol=0, atol=1e-14)


def test_a_wrong_sign_or_a_forgotten_beta_would_be_seen() -> None:
    target, upside_down = small(4), small(4)
    upside_down.scale = -3.0
    _, distribution = tour_matrix(TourSwap(), target, 0.5)
    for wrong, beta in ((target, 1.0), (upside_down, 0.5)):
        assert invariance_error(tour_matrix(TourSwap(), wrong, beta)[0], distribution) > 1e-3


def test_tours_as_states_have_the_same_distribution() -> None:
    """The small target that `make exactness` lists."""
    target = SmallTours(4)
    same = TSP(4, encoding="one_hot", scale=3.0, instance_seed=1)
    assert torch.equal(target.probabilities(), same.tour_probabilities())
    assert torch.equal(target.space.states().long(), same.tours())
    assert target.log_prob(torch.tensor([0.0, 1.0, 1.0, 3.0], dtype=torch.float64)).item() == -torch.inf
    for beta in BETAS[:-1]:
        assert invariance(TourSwap(), target, beta) <= 1e-12
        assert invariance(Gibbs(), target, beta) <= 1e-12
        matrix = transition_matrix(TourSwap(), target, beta)
        torch.testing.assert_close(matrix, tour_matrix(TourSwap(), same, beta)[0], atol=1e-14, rtol=0)


def test_nan_in_a_length_is_never_accepted() -> None:
    target = small(4)
    kernel = TourSwap()
    state = kernel.init(target, target.state(target.tours()), ONE)
    broken = small(4)
    broken.distances.fill_(torch.nan)
    after, info = kernel.step(broken, replace(state), ONE, seeded(0))
    assert bool(info.acceptance.isnan().all())
    assert torch.equal(after.theta, state.theta)


def test_other_targets_and_moves_are_refused_in_one_sentence() -> None:
    with pytest.raises(
        ValueError, match=r"^tour_swap needs a target whose states are tours, .* Quadratic was"
    ):
        TourSwap().check(random_target(SPACES["binary"]))
    with pytest.raises(ValueError, match="tour_swap needs"):
        TourSwap().init(random_target(SPACES["binary"]), torch.zeros(1, 3), ONE)
    with pytest.raises(ValueError, match=r"^moves must be one of both, reverse, swap, 'swop' was given; did"):
        TourSwap("swop")


@pytest.mark.data
@pytest.mark.skipif("DATA_ROOT" not in os.environ, reason="DATA_ROOT is not set")
@pytest.mark.parametrize(("name", "optimum"), [("burma14", 3323), ("gr17", 2085)])
def test_parallel_tempering_finds_the_known_optimum(name: str, optimum: int) -> None:
    """Three seeds of four chains: at the quick budget ten seeds of one chain found it ten times."""
    target = TSP(file=f"{name}.tsp", root=os.environ["DATA_ROOT"]).to(torch.float32)
    kernel = ParallelTempering(TourSwap(), ladder=[1.0, 0.6, 0.4, 0.25, 0.1, 0.0]).to(target.like())
    seeds, one = [0, 1, 2], torch.ones(())
    state = kernel.init(target, target.initial((6, 3, 4), Streams(seeds, "start")), one)
    streams, best = Streams(seeds, "chain"), torch.full((3, 4), torch.inf, dtype=torch.float64)
    for _ in range(5000):
        state, _ = kernel.step(target, state, one, streams)
        best = torch.minimum(best, target.cost(target.tour(kernel.draws(state))))
    assert best.amin(-1).tolist() == [optimum] * 3
