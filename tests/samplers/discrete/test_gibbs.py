"""Gibbs sampling by coordinate and by block: its conditionals by brute force, blocks, costs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import tempered_probabilities, transition_matrix
from samplers import BlockGibbs, Gibbs, HammingBall, Kernel, ParallelTempering
from samplers.discrete.hamming_ball import MOST_CANDIDATES
from targets import Bernoulli4, Binary, Discrete, FunctionTarget, Ordinal, Streams, Target
from tests.support.checks import dkw_band, invariance, largest_gap
from tests.support.steps.stepping import seeded, walked
from tests.support.targets.small_targets import SPACES, random_target

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


@pytest.mark.parametrize("beta", [1.0, 0.1])
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_a_scan_redraws_the_coordinate_at_its_position_or_any(space: Discrete, beta: float) -> None:
    target = random_target(space, seed=1)
    known = [brute_force(target, space, coordinate, beta) for coordinate in range(space.d)]
    for position, expected in enumerate(known):
        aux = {"position": torch.tensor(position)}
        matrix = transition_matrix(Gibbs("systematic"), target, beta, aux)
        assert torch.allclose(matrix, expected, atol=1e-13)
    mixture = torch.stack(known).mean(0)
    for kernel in (Gibbs("random"), BlockGibbs(1)):
        assert torch.allclose(transition_matrix(kernel, target, beta), mixture, atol=1e-13)


def test_systematic_scan_goes_round() -> None:
    target, kernel = random_target(SPACES["binary"]), Gibbs("systematic")
    state = kernel.init(target, target.initial((50,), seeded(0)), BETA)
    for step in range(7):
        assert int(state.aux["position"]) == step % 3
        before = state.theta
        state, _ = kernel.step(target, state, BETA, seeded(step))
        changed = (state.theta != before).any(0)
        assert changed[step % 3]
        assert changed.sum() == 1


def test_a_nan_density_stays_visible_and_in_the_space() -> None:
    target = random_target(Ordinal(2, 5))
    target.bias.fill_(torch.nan)
    kernel = Gibbs()
    state = kernel.init(target, target.initial((6,), torch.Generator()), BETA)
    state, _ = kernel.step(target, state, BETA, torch.Generator())
    assert state.log_prob.isnan().all()
    assert ((state.theta >= 0) & (state.theta < 5)).all()
    blocks = HammingBall().init(target, target.initial((6,), torch.Generator()), BETA)
    blocks, _ = HammingBall().step(target, blocks, BETA, torch.Generator())
    assert blocks.log_prob.isnan().all()


@pytest.mark.parametrize("kernel", [Gibbs("random"), Gibbs("systematic"), BlockGibbs(1), HammingBall(2, 1)])
def test_states_without_a_density_have_a_row_and_leave_the_others_theirs(kernel: Kernel) -> None:
    """Two states of eight have a density, and some lines of the cube have none."""

    def log_prob(theta: Tensor) -> Tensor:
        return torch.where(theta.sum(-1) % 3 == 0, theta[..., 0], -torch.inf)

    target = FunctionTarget(log_prob, Binary(3), constrained=True).double()
    matrix, distribution = transition_matrix(kernel, target, 1.0), tempered_probabilities(target, 1.0)
    assert torch.allclose(matrix.sum(-1), torch.ones(8, dtype=torch.float64), atol=1e-13)
    assert torch.allclose(distribution @ matrix, distribution, atol=1e-13)


@pytest.mark.parametrize("scan", ["random", "systematic"])
def test_a_ladder_of_gibbs_samplers_draws_from_the_target(scan: str) -> None:
    """2,000 chains, 40 rounds, cold draws of the last: distribution function within the DKW band, 1e-6."""
    target = random_target(SPACES["categorical"], seed=4)
    kernel = ParallelTempering(Gibbs(scan), ladder=[1.0, 0.5, 0.0])
    generator = Streams([0, 1], "chain")
    state = kernel.init(target, target.initial((3, 2, 1000), generator), BETA)
    state, _ = walked(kernel, target, state, 40, generator, BETA)
    places = target.space.index(kernel.draws(state)).flatten()
    frequencies = torch.bincount(places, minlength=9).double() / 2000
    assert largest_gap(frequencies, target.probabilities()) <= dkw_band(2000, 1)


@pytest.mark.parametrize("space", SPACES)
def test_a_block_of_everything_draws_from_the_target(space: str) -> None:
    target = random_target(SPACES[space], seed=3)
    matrix = transition_matrix(BlockGibbs(SPACES[space].d), target)
    torch.testing.assert_close(matrix, target.probabilities().expand_as(matrix), atol=1e-14, rtol=0)


def test_the_published_setting_is_exact_on_a_target_with_fewer_coordinates() -> None:
    target = Bernoulli4().double()
    state = HammingBall().init(target, target.space.states(), BETA)
    _, info = HammingBall().step(target, state, BETA, seeded(0))
    assert info.evaluations == 5
    assert invariance(HammingBall(), target, 0.5) <= 1e-12


@pytest.mark.parametrize(("block", "radius", "states"), [(10, 1, 11), (4, 2, 11), (3, 3, 8), (1, 1, 2)])
def test_a_step_evaluates_the_states_of_the_ball(block: int, radius: int, states: int) -> None:
    target, generator = random_target(Binary(12), seed=3), seeded(0)
    kernel = HammingBall(block, radius)
    state = kernel.init(target, target.initial((50,), generator), BETA)
    _, info = kernel.step(target, state, BETA, generator)
    assert info.evaluations == states
    assert int(info.jump.max()) <= min(block, 2 * radius)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^scan must be one of .*; did you mean 'systematic'\?$"):
        Gibbs("sistematic")
    with pytest.raises(ValueError, match="radius must be at most block_size, which is 3, 4 was given"):
        HammingBall(block_size=3, radius=4)
    with pytest.raises(ValueError, match="block_size must be a whole number of at least 1, 0 was given"):
        BlockGibbs(0)
    with pytest.raises(ValueError, match=f"make 131072 states .* the limit is {MOST_CANDIDATES}"):
        BlockGibbs(17).check(random_target(Binary(30), seed=3))
    BlockGibbs(16).check(random_target(Binary(30), seed=3))
