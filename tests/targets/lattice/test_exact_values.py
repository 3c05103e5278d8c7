"""log Z by transfer matrices, Kaufman and Onsager, against enumeration and against each other."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from targets import Ising, Potts
from targets.exact_moments import energy_moments
from targets.lattice.infinite_lattice import onsager_energy, onsager_log_partition, spontaneous_magnetisation
from targets.lattice.lattice_model import LatticeModel
from targets.lattice.square_lattice import kaufman_log_partition
from targets.lattice.transfer_matrix import transfer_log_partition

CRITICAL = 0.5 * math.log(1.0 + math.sqrt(2.0))


def scalar(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


def by_transfer(target: LatticeModel, beta: float = 1.0) -> float:
    """log Z of a two-dimensional model by transfer matrices, whatever its size."""
    sides, terms = target.geometry.sides, target.pairwise_terms()
    couplings, field = terms.couplings.reshape(2, *sides), terms.field.reshape(*sides, -1)
    return float(transfer_log_partition(couplings, field, scalar(beta)) + beta * terms.constant)


def by_enumeration(target: LatticeModel, beta: float = 1.0) -> float:
    return float((beta * target.log_prob(target.space.states())).logsumexp(0))


@pytest.mark.parametrize("beta", [1.0, 0.3])
@pytest.mark.parametrize(
    "target",
    [
        Ising(size=[3, 4], coupling=0.4, field=0.2),
        Ising(size=[5, 2], coupling=0.6),
        Ising(size=[3, 4], coupling=0.8, field=-0.3, disorder="gaussian"),
        Potts(size=[3, 2], q=3, coupling=0.9, field=0.4),
    ],
    ids=["field", "two columns", "glass", "potts"],
)
def test_transfer_matrices_sum_over_all_states(target: LatticeModel, beta: float) -> None:
    assert by_transfer(target, beta) == pytest.approx(by_enumeration(target, beta), abs=1e-11)


@pytest.mark.parametrize("sides", [(3, 3), (3, 4), (4, 3), (2, 5), (4, 4)])
@pytest.mark.parametrize("coupling", [0.1, 0.4, CRITICAL, 0.6, 1.5])
def test_kaufmans_formula_sums_over_all_states(sides: tuple[int, int], coupling: float) -> None:
    expected = by_enumeration(Ising(size=list(sides), coupling=coupling))
    assert float(kaufman_log_partition(scalar(coupling), sides)) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("sides", [(3, 3), (2, 5), (2, 2)])
@pytest.mark.parametrize("beta", [0.0, 1e-12, 1e-5, 1e-3])
def test_kaufmans_formula_has_the_moments_of_hot_lattices(sides: tuple[int, int], beta: float) -> None:
    target = Ising(size=list(sides), coupling=0.4)
    energy = target.log_prob(target.space.states())
    weights = (beta * energy).softmax(-1)
    mean = float(weights @ energy)
    variance = float(weights @ (energy - mean).square())

    scale = scalar(beta).requires_grad_()
    value = kaufman_log_partition(scale * 0.4, sides)
    (slope,) = torch.autograd.grad(value, scale, create_graph=True)
    (curve,) = torch.autograd.grad(slope, scale)
    assert value.item() == pytest.approx(float((beta * energy).logsumexp(-1)), abs=1e-10)
    assert slope.item() == pytest.approx(mean, rel=1e-4, abs=1e-12)
    assert float(curve) == pytest.approx(variance, rel=1e-4)


@pytest.mark.parametrize("size", [[4, 20], [20, 4]])
def test_kaufmans_formula_and_transfer_matrices_agree_on_a_strip(size: list[int]) -> None:
    target = Ising(size=size, coupling=0.42)
    with_field = Ising(size=size, coupling=0.42, field=1e-12)
    exact = by_transfer(Ising(size=[20, 4], coupling=0.42))
    assert float(target.log_partition()) == pytest.approx(exact, abs=1e-10)
    assert float(with_field.log_partition()) == pytest.approx(float(target.log_partition()), abs=1e-9)


@pytest.mark.parametrize("coupling", [0.01, 3.0])
def test_log_z_of_a_large_lattice_is_finite_far_from_the_transition(coupling: float) -> None:
    """Series for high temperatures (loops of four edges) and for low ones (single spins turned over)."""
    size = 600
    high = math.log(2) + 2 * math.log(math.cosh(coupling)) + math.tanh(coupling) ** 4
    low = 2 * coupling + math.exp(-8 * coupling) + math.log(2) / size**2
    target = Ising(size=size, coupling=coupling)
    assert float(target.log_partition()) / size**2 == pytest.approx(high if coupling < 1 else low, abs=1e-9)
    assert energy_moments(target)[0] > 0


def test_log_z_at_infinite_temperature_is_that_of_all_states() -> None:
    assert float(Ising(size=32).log_partition(0.0)) == pytest.approx(32**2 * math.log(2), abs=1e-9)
    with pytest.raises(ValueError, match="log Z of Ising is known for strips"):
        Ising(size=32).log_partition(-1.0)


@pytest.mark.parametrize("coupling", [100.0, 150.0, 178.0, 200.0, 400.0, 1e6])
def test_kaufmans_formula_with_strong_couplings_is_in_its_two_ground_states(coupling: float) -> None:
    target = Ising(size=8, coupling=coupling)
    assert target.log_partition() == pytest.approx(128 * coupling + math.log(2.0), rel=1e-14)
    mean, variance = energy_moments(target)
    assert mean == pytest.approx(128 * coupling, rel=1e-14)
    assert variance == pytest.approx(0.0, abs=1e-9)


def test_a_strip_of_strong_couplings_is_in_its_ground_states() -> None:
    target = Potts(size=[3, 20], q=3, coupling=200.0)
    assert float(target.log_partition()) == pytest.approx(200 * 2 * 60 + math.log(3), abs=1e-8)
    assert energy_moments(target) == pytest.approx((200 * 2 * 60, 0.0), abs=1e-8)


def test_a_number_is_as_good_an_inverse_temperature_as_a_tensor() -> None:
    for target in (Ising(size=4), Ising(size=3, field=0.1), Ising(size=[6, 3], field=0.1), Potts(size=2)):
        assert torch.equal(target.log_partition(0.3), target.log_partition(scalar(0.3)))


def test_a_potts_model_of_two_colours_is_an_ising_model_of_half_the_coupling() -> None:
    potts, ising = Potts(size=[4, 20], q=2, coupling=0.84), Ising(size=[4, 20], coupling=0.42)
    assert float(potts.log_partition()) == pytest.approx(float(ising.log_partition()) + 160 * 0.42, abs=1e-9)


@pytest.mark.parametrize(
    "target",
    [
        Ising(size=[3, 4], coupling=0.5),
        Ising(size=[3, 4], coupling=0.5, field=0.3),
        Ising("random", 10, coupling=0.5, degree=3, disorder="gaussian"),
        Ising("cubic", 2, coupling=0.3),
        Potts(size=[2, 3], q=3, field=0.1),
    ],
    ids=["kaufman", "field", "graph", "cube", "potts"],
)
def test_derivatives_of_log_z_are_the_moments_of_the_log_density(target: LatticeModel) -> None:
    energy = target.log_prob(target.space.states())
    mean = float(target.probabilities() @ energy)
    variance = float(target.probabilities() @ (energy - mean).square())
    assert energy_moments(target) == pytest.approx((mean, variance), abs=1e-10)


@pytest.mark.parametrize("size", [[4, 8], [3, 12]])
def test_moments_of_a_strip_are_those_of_kaufmans_formula(size: list[int]) -> None:
    """The strip of 2^32 states by transfer matrices, through a field too small to be seen."""
    kaufman = energy_moments(Ising(size=size, coupling=0.45))
    strip = energy_moments(Ising(size=size, coupling=0.45, field=1e-12))
    assert strip == pytest.approx(kaufman, abs=1e-8)


def test_large_lattices_approach_onsagers_free_energy() -> None:
    """Away from the transition the correction decreases exponentially with the size."""
    for coupling in (0.3, 0.6):
        large = kaufman_log_partition(scalar(coupling), (64, 64)) / 64**2
        # Below the transition's temperature both signs of the magnetisation count.
        assert float(large) - (coupling > CRITICAL) * math.log(2) / 64**2 == pytest.approx(
            onsager_log_partition(coupling), abs=1e-9
        )
    # ln 2 / 2 + 2 G / pi at the transition, with Catalan's constant G (Onsager 1944, Eq. 121).
    assert onsager_log_partition(CRITICAL) == pytest.approx(0.5 * math.log(2) + 2 * 0.915965594177 / math.pi)


def test_the_energy_at_the_transition_is_onsagers() -> None:
    """U / J a site is sqrt 2 + 0.6224 / n on a lattice of side n (Ferdinand and Fisher 1969, Eq. 3.8)."""
    mean, _ = energy_moments(Ising(size=128, coupling=CRITICAL))
    per_site = mean / CRITICAL / 128**2
    assert 128 * (per_site - math.sqrt(2)) == pytest.approx(0.6224, abs=2e-3)


def test_the_spontaneous_magnetisation_starts_as_the_series_for_low_temperatures() -> None:
    assert spontaneous_magnetisation(CRITICAL - 1e-9) == 0.0
    assert spontaneous_magnetisation(10.0) == pytest.approx(1.0)
    # 1 - 2 e^-8J - 8 e^-12J - 34 e^-16J: the first terms of the series in flipped clusters.
    small = math.exp(-8 * 0.9)
    series = 1 - 2 * small - 8 * small**1.5 - 34 * small**2
    assert spontaneous_magnetisation(0.9) == pytest.approx(series, abs=200 * small**2.5)


@pytest.mark.parametrize("coupling", [0.1, 0.3, CRITICAL, 0.5, 1.0, 400.0])
def test_the_energy_of_the_infinite_lattice_is_the_derivative_of_its_log_z(coupling: float) -> None:
    step = 1e-5 * coupling
    above, below = onsager_log_partition(coupling + step), onsager_log_partition(coupling - step)
    derivative = coupling * (above - below) / (2 * step)
    assert onsager_energy(coupling) == pytest.approx(derivative, rel=1e-7)


@pytest.mark.parametrize("coupling", [0.3, 0.6])
def test_a_large_lattice_has_the_energy_of_the_infinite_one(coupling: float) -> None:
    target = Ising(size=64, coupling=coupling)
    infinite = target.infinite_lattice()
    assert infinite is not None
    assert energy_moments(target)[0] / 64**2 == pytest.approx(infinite.energy, abs=1e-9)
    assert infinite.log_partition == onsager_log_partition(coupling)
    assert infinite.magnetisation == spontaneous_magnetisation(coupling)


def test_the_infinite_lattice_is_known_of_one_coupling_on_squares_without_field() -> None:
    for target in (
        Ising("cubic", 4),
        Ising(size=16, field=0.1),
        Ising(size=16, disorder="bimodal"),
        Ising(size=16, coupling=-0.3),
        Ising(size=16, coupling=0.0),
        Ising("random", 20),
    ):
        assert target.infinite_lattice() is None


def test_what_is_not_known_is_refused() -> None:
    for target in (
        Ising("cubic", 4),
        Ising(size=16, field=0.1),
        Ising(size=16, disorder="gaussian"),
        Ising(size=16, coupling=-0.3),
        Ising("random", 20),
        Potts(size=16),
    ):
        with pytest.raises(ValueError, match=r"^log Z of (Ising|Potts) is known for strips .* was given$"):
            target.log_partition()
