"""Subsets by name, and the gaps restricted to them, of kernels and of diffusions, by brute force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from metrics.diffusion.langevin_gap import coarser, langevin, reld
from metrics.diffusion.langevin_generator import Grid, Level, joined_replicas, log_density, replica
from metrics.diffusion.restricted_langevin_gap import restricted_gaps
from metrics.diffusion.reversible_generator import ReversibleGenerator
from metrics.enumeration.convergence import restricted_gap
from metrics.enumeration.enumerated_chain import enumerated_chain
from metrics.enumeration.subsets import subsets
from samplers import ParallelTempering, RandomWalk, SimulatedTempering
from targets import Bernoulli4, GaussianMixture, Ordinal, Target
from tests.support.targets.small_targets import TwoHills, random_target

PAIR = GaussianMixture([[-1.0], [1.0]], [0.3, 0.7], 0.16)
PLANE = GaussianMixture([[0.0, 0.0], [2.0, 1.0]])


def test_every_state_is_in_the_cell_of_one_mode() -> None:
    theta = torch.tensor([[0.2, 0.1], [1.9, 1.3], [1.0, 0.6], [0.9, 0.5]], dtype=torch.float64)
    cells = subsets(PLANE.double(), theta, "mode", None)
    assert list(cells) == ["mode_0", "mode_1"]
    # Two spherical components of the same size: whichever mean is nearer.
    nearer = (theta - PLANE.means[1]).norm(dim=-1) < theta.norm(dim=-1)
    assert torch.equal(cells["mode_1"], nearer)
    assert torch.equal(cells["mode_0"], ~nearer)


def test_a_ball_and_a_list_hold_what_they_say() -> None:
    theta = torch.tensor([[3.0, 4.0], [3.0, 4.1], [0.0, 0.0]])
    assert subsets(PLANE, theta, "ball", 5.0)["ball"].tolist() == [True, False, True]
    target = Bernoulli4()
    states = target.space.states()
    listed = [[0, 1, 0, 1], [1, 1, 1, 1]]
    found = subsets(target, states, listed, None)["states"]
    assert states[found].tolist() == listed


@pytest.mark.parametrize(
    ("target", "restrict", "radius", "sentence"),
    [
        (PLANE, "modes", None, "restrict must be one of ball, level, mode, 'modes' was given"),
        (PLANE, "ball", None, "radius must be a positive number, None was given"),
        (PLANE, [[0.0, 0.0]], None, "restrict must be mode or ball on"),
        (Bernoulli4(), [[0, 1, 0]], None, r"each of 4 numbers, \[0, 1, 0\] was given"),
        (Bernoulli4(), [[0, 1, 0, 1], [0, 1, 0, 2]], None, r"\[0, 1, 0, 2\] was given"),
        (Bernoulli4(), [], None, "at least two states"),
        (random_target(Ordinal(1, 3)), "mode", None, "needs a target with known modes, Quadratic has none"),
    ],
)
def test_what_is_no_subset_is_refused(target: Target, restrict: Any, radius: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        subsets(target, torch.zeros((1, target.space.d)), restrict, radius)


def test_states_of_products_and_of_levels_know_where_they_stand() -> None:
    target, betas = TwoHills(), [1.0, 0.2]
    ladder = enumerated_chain(ParallelTempering(RandomWalk(1), betas), target)
    pairs = list(itertools.product(range(6), repeat=2))
    assert ladder.place.tolist() == [cold for cold, _ in pairs]
    assert ladder.level is None
    tempering = SimulatedTempering(RandomWalk(1), betas, log_partition=[0.0, 0.0])
    levels = enumerated_chain(tempering, target)
    assert levels.level is not None
    assert list(zip(levels.level.tolist(), levels.place.tolist(), strict=True)) == list(
        itertools.product(range(2), range(6))
    )
    # The stationary distribution of the level and the state, cell by cell.
    U = target.log_prob(target.space.states().double())
    expected = torch.tensor([betas[i] for i in levels.level.tolist()]) * U[levels.place]
    assert torch.allclose(levels.pi, expected.softmax(0), atol=1e-14)


def as_chain(generator: ReversibleGenerator) -> tuple[Tensor, Tensor, float]:
    """The chain that jumps as `generator` at the ticks of a fast clock, its pi and the clock's rate."""
    Q, pi = torch.from_numpy(generator.matrix().toarray()), torch.from_numpy(np.exp(generator.log_pi))
    rate = 1.01 * float(-Q.diagonal().min())
    return torch.eye(len(Q), dtype=torch.float64) + Q / rate, pi, rate


@pytest.mark.parametrize("levels", [langevin(), reld(2.5), reld(2.5, "tempered", 0.9)])
@pytest.mark.parametrize(("restrict", "radius"), [("mode", None), ("ball", 1.2)])
def test_gaps_of_diffusions_are_those_of_the_whole_matrix(
    levels: tuple[Level, ...], restrict: str, radius: float | None
) -> None:
    """Definition 1 on the product space, with the subset of the first replica's cells lifted to it."""
    target, rho, grid = PAIR.double(), 1.7, Grid(31, 2.5, 1)

    def divide(cells: Tensor) -> dict[str, Tensor]:
        return subsets(target, cells, restrict, radius)

    found = restricted_gaps(target, levels, rho, 31, 2.5, divide)
    for on in (grid, coarser(grid)):
        U = log_density(target, on)
        replicas = [replica(U, level, on) for level in levels]
        matrix, pi, rate = as_chain(joined_replicas(replicas, rho))
        others = len(pi) // len(replicas[0].cells)
        for name, held in divide(torch.from_numpy(on.cells()[replicas[0].cells])).items():
            kept = held.repeat_interleave(others)
            exact = rate * restricted_gap(matrix, pi, kept)
            part = found[name]
            if on is grid:
                assert part.gap == pytest.approx(exact, rel=1e-6)
                assert part.mass == pytest.approx(float(pi[kept].sum()), rel=1e-12)
            else:
                assert part.error == pytest.approx(abs(part.gap - exact), rel=1e-4, abs=1e-6)


def test_a_mode_of_two_narrow_ones_has_its_own_gap() -> None:
    """Its process is that of one Gaussian: gap 1 / eps^2, over a mass of one half."""
    target = GaussianMixture([[-1.0], [1.0]], covariance=0.04).double()

    def divide(cells: Tensor) -> dict[str, Tensor]:
        return subsets(target, cells, "mode", None)

    for part in restricted_gaps(target, langevin(), 0.0, 401, 2.5, divide).values():
        assert part.gap == pytest.approx(2.0 / 0.04, rel=1e-3)
        assert part.error < 0.01 * part.gap


def test_a_subset_in_pieces_has_no_gap_and_one_of_few_cells_is_refused() -> None:
    def rim(cells: Tensor) -> dict[str, Tensor]:
        return {"rim": cells[:, 0].abs() > 0.5}

    assert restricted_gaps(PAIR.double(), langevin(), 0.0, 61, 2.5, rim)["rim"].gap == 0.0
    # Swaps with a replica that may be anywhere lead from one piece to the other.
    assert restricted_gaps(PAIR.double(), reld(2.0), 1.0, 61, 2.5, rim)["rim"].gap > 0.0

    def few(cells: Tensor) -> dict[str, Tensor]:
        return {"ball": cells[:, 0].abs() < 0.2}

    with pytest.raises(ValueError, match="restrict leaves 5 cells of the grid with mass in ball"):
        restricted_gaps(PAIR.double(), langevin(), 0.0, 61, 2.5, few)
