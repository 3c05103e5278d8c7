"""Gibbs sampling: its conditionals by brute force, both scans by enumeration."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import invariance_error, tempered_probabilities, transition_matrix
from samplers.discrete.gibbs import Gibbs
from samplers.tempering.parallel_tempering import ParallelTempering
from targets.randomness import Streams
from targets.spaces import Discrete, Ordinal, Real
from targets.target import Target
from tests.support.checks import cache_error, dkw_band, largest_gap, sampled_rows
from tests.support.small_targets import SPACES, random_target

BETA = torch.ones((), dtype=torch.float64)


def brute_force(target: Target, space: Discrete, coordinate: int, beta: float) -> Tensor:
    """The matrix that redraws `coordinate`: pi restricted to states that agree elsewhere, row by row."""
    distribution = tempered_probabilities(target, beta)
    levels = space.to_levels(space.states()).tolist()
    matrix = torch.zeros(len(distribution), len(distribution), dtype=torch.float64)
    for x, source in enumerate(levels):
        for y, destination in enumerate(levels):
            if all(
                a == b for i, (a, b) in enumerate(zip(source, destination, strict=True)) if i != coordinate
            ):
                matrix[x, y] = distribution[y]
    return matrix / matrix.sum(-1, keepdim=True)


@pytest.mark.parametrize("beta", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_systematic_scan_redraws_the_coordinate_at_its_position(space: Discrete, beta: float) -> None:
    target = random_target(space, seed=1)
    for position in range(space.d):
        aux = {"position": torch.tensor(position)}
        matrix = transition_matrix(Gibbs("systematic"), target, beta, aux)
        assert torch.allclose(matrix, brute_force(target, space, position, beta), atol=1e-13)
        assert invariance_error(matrix, tempered_probabilities(target, beta)) <= 1e-12


@pytest.mark.parametrize("beta", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_random_scan_is_the_mixture_over_coordinates(space: Discrete, beta: float) -> None:
    target = random_target(space, seed=1)
    matrix = transition_matrix(Gibbs("random"), target, beta)
    mixture = sum(brute_force(target, space, i, beta) for i in range(space.d)) / space.d
    assert torch.allclose(matrix, torch.as_tensor(mixture), atol=1e-13)
    assert invariance_error(matrix, tempered_probabilities(target, beta)) <= 1e-12


@pytest.mark.parametrize("scan", ["random", "systematic"])
def test_step_draws_from_the_enumerated_row(scan: str) -> None:
    """A million draws from each of eight states; false alarm 1e-6 (DKW)."""
    target, kernel = random_target(SPACES["binary"], seed=2), Gibbs(scan)
    aux = {"position": torch.tensor(1)} if scan == "systematic" else None
    matrix = transition_matrix(kernel, target, 0.5, aux)
    frequencies = sampled_rows(kernel, target, 0.5, 1_000_000, aux=aux)
    assert largest_gap(frequencies, matrix) <= dkw_band(1_000_000, 8) < 0.003


def test_systematic_scan_goes_round() -> None:
    target, kernel = random_target(SPACES["binary"]), Gibbs("systematic")
    state = kernel.init(target, target.initial((50,), torch.Generator().manual_seed(0)), BETA)
    for step in range(7):
        assert int(state.aux["position"]) == step % 3
        before = state.theta
        state, _ = kernel.step(target, state, BETA, torch.Generator().manual_seed(step))
        changed = (state.theta != before).any(0)
        assert changed[step % 3]
        assert changed.sum() == 1


@pytest.mark.parametrize("scan", ["random", "systematic"])
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_the_cached_log_density_is_the_new_states(space: Discrete, scan: str) -> None:
    assert cache_error(Gibbs(scan), random_target(space), 0.5) <= 1e-12


def test_a_step_costs_one_evaluation_a_level() -> None:
    target, kernel = random_target(Ordinal(2, 5)), Gibbs()
    state = kernel.init(target, target.initial((6,), torch.Generator()), BETA)
    _, info = kernel.step(target, state, BETA, torch.Generator())
    assert info.evaluations == 5
    assert torch.equal(info.acceptance, torch.ones(6, dtype=torch.float64))
    assert info.jump.max() <= 1


def test_a_nan_density_stays_visible_and_in_the_space() -> None:
    target = random_target(Ordinal(2, 5))
    target.bias.fill_(torch.nan)
    kernel = Gibbs()
    state = kernel.init(target, target.initial((6,), torch.Generator()), BETA)
    state, _ = kernel.step(target, state, BETA, torch.Generator())
    assert state.log_prob.isnan().all()
    assert ((state.theta >= 0) & (state.theta < 5)).all()


@pytest.mark.parametrize("scan", ["random", "systematic"])
def test_a_ladder_of_gibbs_samplers_draws_from_the_target(scan: str) -> None:
    """2,000 chains, 40 rounds, cold draws of the last: distribution function within the DKW band, 1e-6."""
    target = random_target(SPACES["categorical"], seed=4)
    kernel = ParallelTempering(Gibbs(scan), ladder=[1.0, 0.5, 0.0])
    generator = Streams([0, 1], "chain")
    state = kernel.init(target, target.initial((3, 2, 1000), generator), BETA)
    for _ in range(40):
        state, info = kernel.step(target, state, BETA, generator)
    assert info.evaluations == 9
    places = target.space.index(kernel.draws(state)).flatten()
    frequencies = torch.bincount(places, minlength=9).double() / 2000
    assert largest_gap(frequencies, target.probabilities()) <= dkw_band(2000, 1)


@pytest.mark.parametrize("value", ["sistematic", 0, True, None])
def test_refuses_an_unknown_scan(value: object) -> None:
    with pytest.raises(ValueError, match=r"^scan must be one of random, systematic, .* was given"):
        Gibbs(value)  # type: ignore[arg-type]


def test_an_unknown_scan_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"did you mean 'systematic'\?$"):
        Gibbs("sistematic")


def test_refuses_the_reals() -> None:
    target = random_target(Ordinal(2, 5))
    target.space = Real(2)  # type: ignore[assignment]
    with pytest.raises(ValueError, match=r"^gibbs needs a binary, ordinal or categorical space, not Real"):
        Gibbs().init(target, torch.zeros(1, 2), BETA)
