"""Kernels as transition matrices of whole cycles, and what cannot be listed."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from metrics.enumeration.convergence import chain_spectrum
from metrics.enumeration.enumerated_chain import cycle, enumerated_chain
from metrics.enumeration.tempered_transition import product_distribution, tempering_matrix
from metrics.enumeration.transition_matrix import invariance_error, tempered_probabilities, transition_matrix
from samplers.discrete.acs import ACS
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.gibbs import Gibbs
from samplers.discrete.random_walk import RandomWalk
from samplers.entropic.edmala import EDMALA
from samplers.kernel import Kernel
from samplers.metropolis_hastings import MetropolisHastings
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from samplers.tempering.swaps.swap_round import Swaps
from targets import Binary, Ordinal, Real, Space, Target


class Slope(Target):
    """U rises along each coordinate, and with the product of the first two."""

    def __init__(self, space: Space, allowed: float = float("inf")) -> None:
        super().__init__()
        self.space, self.allowed = space, allowed
        self.constrained = allowed < float("inf")

    def log_prob(self, theta: Tensor) -> Tensor:
        total = theta.sum(-1)
        U = 0.3 * total + 0.5 * theta[..., 0] * theta[..., -1]
        return U.masked_fill(total > self.allowed, -torch.inf)


def test_a_systematic_scan_is_the_product_of_its_steps() -> None:
    target, kernel = Slope(Binary(3)), Gibbs("systematic")
    chain = enumerated_chain(kernel, target)
    assert chain.steps == len(cycle(kernel, target)) == 3
    product = torch.eye(8, dtype=torch.float64)
    for k in range(3):
        product = product @ transition_matrix(kernel, target, aux={"position": torch.tensor(k)})
    assert torch.allclose(chain.matrix, product, atol=1e-15)
    assert invariance_error(chain.matrix, chain.pi) <= 1e-14


@pytest.mark.parametrize(("pairing", "rounds"), [("odd_even", 2), ("stochastic", 1), ("sequential", 1)])
def test_a_ladder_is_the_product_of_its_rounds(pairing: str, rounds: int) -> None:
    target, betas = Slope(Binary(2)), [1.0, 0.4, 0.1]
    kernel = ParallelTempering(RandomWalk(), betas, swap=Swaps(pairing=pairing))
    chain = enumerated_chain(kernel, target)
    assert chain.steps == rounds
    product = torch.eye(64, dtype=torch.float64)
    for turn in range(rounds):
        product = product @ tempering_matrix(kernel, target, turn)
    assert torch.allclose(chain.matrix, product, atol=1e-14)
    assert torch.allclose(chain.pi, product_distribution(target, betas), atol=1e-14)
    assert invariance_error(chain.matrix, chain.pi) <= 1e-13


@pytest.mark.parametrize("log_partition", [[0.0, 0.0, 0.0], [0.0, 0.9, 2.0]])
def test_simulated_tempering_is_a_chain_on_levels_and_states(log_partition: list[float]) -> None:
    target, betas = Slope(Binary(3)), [1.0, 0.4, 0.1]
    kernel = SimulatedTempering(Gibbs(), betas, rate=0.3, log_partition=log_partition)
    chain = enumerated_chain(kernel, target)
    assert chain.matrix.shape == (24, 24)
    assert chain.steps == 1
    assert invariance_error(chain.matrix, chain.pi) <= 1e-14
    energy = target.log_prob(target.space.states()).double()
    joint = torch.cat([beta * energy - log for beta, log in zip(betas, log_partition, strict=True)])
    assert torch.allclose(chain.pi, joint.softmax(0), atol=1e-15)


def test_plain_kernels_are_their_matrix_with_the_distribution_that_they_leave_invariant() -> None:
    target = Slope(Ordinal(2, 3))
    chain = enumerated_chain(RandomWalk(1), target)
    assert chain.steps == 1
    assert torch.equal(chain.matrix, transition_matrix(RandomWalk(1), target))
    assert torch.allclose(chain.pi, tempered_probabilities(target), atol=1e-15)
    biased = enumerated_chain(DULA(0.8), target)  # not exact
    assert invariance_error(biased.matrix, biased.pi) <= 1e-13
    assert float((biased.pi - tempered_probabilities(target)).abs().max()) > 1e-3
    holed = enumerated_chain(RandomWalk(), Slope(Binary(3), allowed=1.0))  # states without mass are left out
    assert holed.matrix.shape == (4, 4)
    assert torch.allclose(holed.matrix.sum(-1), torch.ones(4, dtype=torch.float64), atol=1e-14)
    assert invariance_error(holed.matrix, holed.pi) <= 1e-14
    cyclical = ACS(cycle_length=4, step_size=2.0, min_step_size=0.2, balancing=[0.8, 0.6, 0.5, 0.5])
    assert enumerated_chain(cyclical, Slope(Binary(2))).steps == 4


@pytest.mark.parametrize("ladder", [[1.0, 0.5], [1.0, 0.0], [1.0, 0.5, 0.0]], ids=str)
@pytest.mark.parametrize("inner", [Gibbs(), RandomWalk(), DMALA(0.4)], ids=lambda inner: type(inner).__name__)
def test_tempered_chains_leave_out_states_of_density_zero(inner: Kernel, ladder: list[float]) -> None:
    target = Slope(Binary(2), allowed=1.0)  # three of four states
    parallel = enumerated_chain(ParallelTempering(inner, ladder), target)
    assert len(parallel.pi) == 3 ** len(ladder)
    levels = [0.2] * len(ladder)
    simulated = enumerated_chain(SimulatedTempering(inner, ladder, log_partition=levels), target)
    assert len(simulated.pi) == 3 * len(ladder)
    for chain in (parallel, simulated):
        assert torch.allclose(chain.matrix.sum(-1), torch.ones_like(chain.pi), atol=1e-14)
        assert invariance_error(chain.matrix, chain.pi) <= 1e-14
        assert chain_spectrum(chain.matrix, chain.pi).gap > 0.0


class UnadjustedWalk(MetropolisHastings):
    """A walk to neighbours that takes every proposal."""

    def __init__(self) -> None:
        super().__init__(RandomWalk().proposal, adjusted=False)


def test_without_rejections_a_chain_stays_in_place_of_moving_to_a_state_of_density_zero() -> None:
    target = Slope(Binary(2), allowed=1.0)
    chain = enumerated_chain(UnadjustedWalk(), target)
    # From 00 to either neighbour; from a neighbour back, or nowhere in place of to 11.
    wanted = torch.tensor([[0.0, 0.5, 0.5], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]], dtype=torch.float64)
    assert torch.allclose(chain.matrix, wanted, atol=1e-15)
    assert torch.allclose(chain.pi, torch.full_like(chain.pi, 1 / 3), atol=1e-15)
    alone = enumerated_chain(DULA(0.4), target)
    assert len(alone.pi) == 3
    levels = SimulatedTempering(DULA(0.4), [1.0, 0.0], log_partition=[0.0, 0.0])
    for kernel, states in ((ParallelTempering(DULA(0.4), [1.0, 0.0]), 9), (levels, 6)):
        chain = enumerated_chain(kernel, target)
        assert len(chain.pi) == states
        assert invariance_error(chain.matrix, chain.pi) <= 1e-14


def test_states_from_which_all_moves_are_barred_have_no_mass() -> None:
    target = Slope(Binary(4), allowed=1.0)  # all neighbours of 1111 have density zero
    assert len(enumerated_chain(UnadjustedWalk(), target).pi) == 5


def test_at_beta_0_the_allowed_states_are_equally_likely() -> None:
    hot = tempered_probabilities(Slope(Binary(2), allowed=1.0), 0.0)
    assert torch.equal(hot, torch.tensor([1.0, 1.0, 1.0, 0.0], dtype=torch.float64) / 3)


def test_levels_have_step_sizes_of_their_own() -> None:
    target = Slope(Binary(3))
    kernel = SimulatedTempering(DMALA(1.0), [1.0, 0.3], log_partition=[0.0, 1.0], step_size=[0.4, 2.0])
    chain = enumerated_chain(kernel, target)
    assert invariance_error(chain.matrix, chain.pi) <= 1e-14
    within = transition_matrix(DMALA(2.0), target, 0.3)
    off = ~torch.eye(8, dtype=torch.bool)
    assert torch.allclose(chain.matrix[8:, 8:][off], 0.5 * within[off], atol=1e-15)


TURNS = Gibbs("systematic")
LEVELS = {"ladder": [1.0, 0.5], "log_partition": [0.0, 0.0]}


@pytest.mark.parametrize(
    ("kernel", "space", "memory", "words"),
    [
        (RandomWalk(), Real(1), 8.0, "only discrete spaces"),
        (
            RandomWalk(),
            Binary(16),
            64.0,
            "65536 states are too many .* with memory=64 GiB: 5000 fit",
        ),
        (
            *(ParallelTempering(RandomWalk(), [1.0, 0.5, 0.1]), Binary(5), 8.0),
            r"32768 states \(32 of the target for each of 3 replicas\)",
        ),
        (
            *(SimulatedTempering(RandomWalk(), **LEVELS), Binary(12), 64.0),
            r"8192 states \(4096 of the target at each of 2 levels\)",
        ),
        (RandomWalk(), Binary(9), 0.001, f"memory=0.001 GiB: {int((0.001 * 2**30 / (8 * 30)) ** 0.5)} fit"),
        (SimulatedTempering(TURNS, **LEVELS), Binary(2), 8.0, "levels around a kernel that goes round"),
        (ParallelTempering(TURNS, [1.0, 0.5]), Binary(2), 8.0, "a ladder around a kernel that goes round"),
        (EDMALA(0.2, 1.0, 0.1), Binary(2), 8.0, "EDMALA carries a continuous variable"),
    ],
)
def test_what_cannot_be_listed_is_refused(kernel: Kernel, space: Space, memory: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        enumerated_chain(kernel, Slope(space), memory)
