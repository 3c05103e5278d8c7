"""Exact draws of narrow strips, against the probabilities of all states."""

from __future__ import annotations

import copy

import pytest
import torch

from targets import ExactlySampled, Ising, Potts, Streams
from targets.exact_moments import energy_moments
from targets.lattice.lattice_model import LatticeModel

SMALL = {
    "square": Ising(size=3, coupling=0.4, field=0.2),
    "wide glass": Ising(size=[2, 4], coupling=0.8, field=-0.3, disorder="gaussian"),
    "long glass": Ising(size=[4, 2], coupling=0.8, field=-0.3, disorder="gaussian"),
    "potts": Potts(size=[3, 2], q=3, coupling=0.9, field=0.4),
}


@pytest.mark.parametrize("name", SMALL)
def test_draws_have_the_probabilities_of_the_states(name: str) -> None:
    """Chi-squared statistic of 200,000 draws within 5 standard deviations: false alarm below 1e-6."""
    target = SMALL[name]
    assert isinstance(target, ExactlySampled)
    draws = target.sample((200_000,), torch.Generator().manual_seed(5))
    states = target.space.states()
    expected = 200_000 * target.log_prob(states).softmax(0)
    found = torch.bincount(target.space.index(draws), minlength=target.space.size).double()
    # Rare states together: each cell expects ten draws or more.
    rare = expected < 10
    cells = torch.cat([expected[~rare], expected[rare].sum().reshape(1)])
    counts = torch.cat([found[~rare], found[rare].sum().reshape(1)])
    cells, counts = cells[cells > 0], counts[cells > 0]
    freedom = len(cells) - 1
    assert float(((counts - cells) ** 2 / cells).sum()) < freedom + 6 * (2 * freedom) ** 0.5


@pytest.mark.parametrize("coupling", [0.5, 3.0])
def test_energies_of_draws_of_a_glass_are_those_of_its_derivatives(coupling: float) -> None:
    """Mean of U of 4,000 draws within 5 standard errors: false alarm 6e-7."""
    target = Ising(size=[6, 8], coupling=coupling, disorder="gaussian")
    energy = target.log_prob(target.sample((4, 1000), Streams([1, 2, 3, 4], "chain")))
    mean, variance = energy_moments(target)
    assert abs(float(energy.mean()) - mean) < 5 * (variance / 4000) ** 0.5


def test_draws_depend_on_their_own_seed_alone_and_survive_a_copy() -> None:
    target = copy.deepcopy(SMALL["square"]).float()
    both = target.sample((2, 5), Streams([1, 2], "chain"))
    alone = copy.deepcopy(target).sample((1, 5), Streams([2], "chain"))
    assert both.dtype == torch.float32
    assert both.shape == (2, 5, 9)
    assert torch.equal(both[1], alone[0])


@pytest.mark.parametrize(
    "target", [Ising(size=9), Ising("cubic", 2), Ising("random", 10), Potts(size=6, q=3)], ids=str
)
def test_other_lattices_have_no_exact_draws(target: LatticeModel) -> None:
    assert not isinstance(target, ExactlySampled)
