from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter

from targets import MixtureOfGaussians, MixtureOfStudentT, Ordinal
from targets.synthetic.centres import COMPONENTS, centres_inside, lattice, released, ring
from targets.synthetic.grid_mixture import ENERGIES, GridMixture

Array = NDArray[np.float64]
FAMILIES = {"mog": MixtureOfGaussians, "mos": MixtureOfStudentT}
WIDTHS = {2: 1.6, 4: 1.2, 6: 0.06, 8: 0.08, 10: 0.4, 12: 0.36, 14: 0.28, 16: 0.096}
ALL = [(family, c, energy) for family in FAMILIES for c in COMPONENTS for energy in ENERGIES]
every = pytest.mark.parametrize(("family", "components", "energy"), ALL)
every_paper = pytest.mark.parametrize(
    ("family", "components"), [(f, c) for f in FAMILIES for c in COMPONENTS]
)


def build(family: str, components: int, energy: str = "paper") -> GridMixture:
    return FAMILIES[family](components, energy)


def centres(family: str, components: int, energy: str) -> Array:
    if energy != "released":
        return centres_inside(components).numpy()
    if components == 16:
        return (ring(8) if family == "mog" else lattice()).numpy()
    return released(components).numpy()


def squared_distances(theta: Array, points: Array) -> Array:
    """Squared distances in u, ``(states, components)``."""
    u = 3 * theta / 100 - 1.5
    return ((u[:, None, :] - points[None]) ** 2).sum(-1)


def energy_by_hand(theta: Array, family: str, components: int, energy: str) -> Array:
    """U of grid positions ``(states, 2)``: settings A.1 and A.4 written down in NumPy."""
    points = centres(family, components, energy)
    square = squared_distances(theta, points)
    if energy == "paper" and family == "mog":
        bumps = np.exp(-square / (2 * 0.1**2)) / (2 * np.pi * 0.1**2) / len(points)
    elif energy == "paper":
        bumps = (1 + square / (2 * 0.05**2)) ** (-(2 + 2) / 2) / (2 * np.pi * 0.05**2) / len(points)
    elif family == "mog":
        bumps = np.exp(-np.sqrt(square) / WIDTHS[components])
    elif components == 16:
        bumps = (1 + square / (0.05 * 16)) ** -2
    else:
        bumps = (1 + square / 2) ** (-(2 + 1) / 2) / np.sqrt(np.pi * 2) / len(points)
    total: Array = bumps.sum(-1)
    return total if energy == "released" else np.log(total)


def by_hand_responsibilities(theta: Array, family: str, components: int, energy: str) -> Array:
    """p(component | theta): the posterior for ``paper``, the kernels of A.3 otherwise."""
    square = squared_distances(theta, centres(family, components, energy))
    if family == "mog":
        variance = 0.1**2 if energy == "paper" else 0.05
        log = -square / (2 * variance)
        heights = np.exp(log - log.max(-1, keepdims=True))
    else:
        heights = (1 + square / (2 * 0.05**2 if energy == "paper" else 2)) ** -2.0
    normalised: Array = heights / heights.sum(-1, keepdims=True)
    return normalised


@every
def test_energies_are_the_written_formula(family: str, components: int, energy: str) -> None:
    target = build(family, components, energy)
    assert target.space == Ordinal(2, 101)
    states = target.space.states()
    expected = energy_by_hand(states.numpy(), family, components, energy)
    np.testing.assert_allclose(target.log_prob(states).numpy(), expected, rtol=1e-12, atol=1e-12)
    weights = np.exp(expected - expected.max())
    np.testing.assert_allclose(target.probabilities().numpy(), weights / weights.sum(), rtol=1e-10)
    assert abs(math.fsum(target.probabilities().tolist()) - 1) < 1e-12


@every
def test_gradients_are_those_of_finite_differences_and_of_autograd_per_grid_unit(
    family: str, components: int, energy: str
) -> None:
    """Central differences, except within a tenth of a grid step of the cusp of a released Gaussian bump."""
    target = build(family, components, energy)
    states = target.space.states()
    _, grad = target.log_prob_and_grad(states)
    step = 1e-4
    differences = np.empty((len(states), 2))
    for axis in range(2):
        shift = np.zeros(2)
        shift[axis] = step
        above = energy_by_hand(states.numpy() + shift, family, components, energy)
        below = energy_by_hand(states.numpy() - shift, family, components, energy)
        differences[:, axis] = (above - below) / (2 * step)
    nearest = np.sqrt(squared_distances(states.numpy(), centres(family, components, energy)).min(-1))
    smooth = nearest > 0.003
    assert smooth.sum() >= len(states) - 16
    np.testing.assert_allclose(grad.numpy()[smooth], differences[smooth], rtol=1e-6, atol=1e-6)
    # By autograd everywhere: as far as the formula is differentiable, and exactly 0 at a cusp.
    theta = states[::7].clone().requires_grad_(True)
    value = target.continuous_log_prob(theta)
    (slope,) = torch.autograd.grad(value.sum(), theta)
    torch.testing.assert_close(target.log_prob(states[::7]), value.detach(), rtol=0, atol=1e-12)
    torch.testing.assert_close(grad[::7], slope, rtol=0, atol=1e-12)
    assert grad.isfinite().all()


def test_at_a_released_gaussian_centre_its_own_bump_has_no_slope() -> None:
    """Eight of the twelve centres on two rings are grid states up to rounding; the other bumps still pull."""
    target = build("mog", 12, "log")
    on_the_grid = [0, 2, 4, 6, 8, 9, 10, 11]
    for mode in on_the_grid:
        theta, u = target.modes[mode], target.centres[mode]
        assert torch.allclose(theta, (u + 1.5) / 0.03, rtol=0, atol=1e-12)
        others = target.centres[torch.arange(12) != mode]
        distance = (u - others).norm(dim=-1)
        pull = ((-distance / 0.36).exp() / 0.36 / distance).unsqueeze(-1) * (others - u)
        value, grad = target.log_prob_and_grad(theta)
        assert torch.allclose(grad, 0.03 * pull.sum(0) / value.exp(), rtol=0, atol=1e-12)


@every
def test_responsibilities_and_weights_are_the_written_ones(family: str, components: int, energy: str) -> None:
    target = build(family, components, energy)
    states = target.space.states()
    expected = by_hand_responsibilities(states.numpy(), family, components, energy)
    np.testing.assert_allclose(target.responsibilities(states).numpy(), expected, rtol=1e-9, atol=1e-12)
    weights = target.probabilities().numpy() @ expected
    np.testing.assert_allclose(target.mode_weights().numpy(), weights, rtol=1e-9)
    assert abs(target.mode_weights().sum().item() - 1) < 1e-12
    assert target.mode_weights().dtype == torch.float64


@every
def test_modes_are_the_grid_states_nearest_to_the_centres(family: str, components: int, energy: str) -> None:
    target = build(family, components, energy)
    points = centres(family, components, energy)
    states = target.space.states()
    nearest = squared_distances(states.numpy(), points).argmin(0)
    assert torch.equal(target.modes, states[torch.from_numpy(nearest)])
    assert len(target.modes.unique(dim=0)) == len(points)
    assert len(points) == (8 if (family, components, energy) == ("mog", 16, "released") else components)


@every_paper
def test_the_local_maxima_of_the_paper_target_are_exactly_its_modes(family: str, components: int) -> None:
    target = build(family, components)
    table = target.log_prob(target.space.states()).reshape(101, 101)
    ring = np.ones((3, 3), dtype=bool)
    ring[1, 1] = False
    neighbours = maximum_filter(table.numpy(), footprint=ring, mode="constant", cval=-np.inf)
    maxima = {tuple(place) for place in np.argwhere(table.numpy() > neighbours).tolist()}
    assert maxima == {tuple(mode) for mode in target.modes.long().tolist()}


@every_paper
def test_modes_of_the_paper_target_are_separate_and_about_as_probable(family: str, components: int) -> None:
    """At least 5 scales between centres, and 1.4 nats to climb on the straight way between the nearest."""
    target = build(family, components)
    scale = 0.1 if family == "mog" else 0.05
    assert torch.pdist(target.centres).min() / scale >= 5
    assert (target.mode_weights() * components - 1).abs().max() < 0.02
    gaps = torch.cdist(target.centres, target.centres)
    gaps.fill_diagonal_(torch.inf)
    first, second = divmod(int(gaps.argmin()), components)
    along = torch.linspace(0, 1, 201, dtype=torch.float64).unsqueeze(-1)
    way = target.centres[first] * (1 - along) + target.centres[second] * along
    energy = target.continuous_log_prob((way + 1.5) / 0.03)
    assert min(energy[0], energy[-1]) - energy.min() > (3.5 if family == "mog" else 1.4)


def spread(log_prob: torch.Tensor) -> tuple[float, float, float, float]:
    """Least and greatest U, max/min of the probabilities, and KL(pi || uniform)."""
    probabilities = log_prob.softmax(0)
    kl = (probabilities * (probabilities * len(log_prob)).log()).sum()
    low, high = log_prob.min().item(), log_prob.max().item()
    return low, high, math.exp(high - low), kl.item()


ANCHORS = [
    # Settings A.1: of the released U its smallest and largest value, max/min of the probabilities and
    # KL(pi || uniform); of its logarithm the KL.
    ("mog", 2, (".5", "1.3", "2.1", "1.4e-2"), ".019"),
    ("mog", 4, (".7", "1.8", "3.0", "3.6e-2"), ".021"),
    ("mog", 8, ("0.00", "0.88", "2.4", "5.0e-3"), "1.41"),
    ("mog", 10, (".13", "1.4", "3.7", "3.7e-2"), ".080"),
    ("mog", 16, ("0.00", "0.90", "2.5", "6.7e-3"), "1.11"),
    ("mos", 2, (), ".040"),
    ("mos", 8, (".079", ".217", "1.15", "5.9e-4"), "0.023"),
    ("mos", 14, (), ".010"),
    ("mos", 16, (".90", "3.9", "19.5", "0.215"), "0.038"),
]


def agrees(value: float, printed: str) -> bool:
    """Whether `value` rounds to the `printed` digits."""
    mantissa, _, exponent = printed.partition("e")
    digits = len(mantissa.partition(".")[2])
    return abs(value - float(printed)) <= 0.5000001 * 10.0 ** (int(exponent or 0) - digits)


@pytest.mark.parametrize(("family", "components", "released_spread", "log_kl"), ANCHORS)
def test_released_targets_are_as_flat_as_the_settings_say(
    family: str, components: int, released_spread: tuple[str, ...], log_kl: str
) -> None:
    """The `log` column of A.1 has the released centres; where they are ours too, it holds for ``log``."""
    target = build(family, components, "released")
    states = target.space.states()
    bumps = target.log_prob(states)
    for value, printed in zip(spread(bumps), released_spread, strict=False):
        assert agrees(value, printed), (value, printed)
    assert agrees(spread(bumps.log())[3], log_kl)
    if components <= 8 or (family, components) == ("mos", 16):
        log = build(family, components, "log").log_prob(states)
        assert torch.allclose(log, bumps.log(), rtol=0, atol=1e-12)


def test_released_student_t_mixtures_are_within_the_bounds_of_the_settings() -> None:
    """A.1: max/min 1.09 to 1.18, KL 1.7e-4 to 1.1e-3 for 2 to 14 components."""
    rows = [spread(build("mos", c, "released").log_prob(Ordinal(2, 101).states())) for c in COMPONENTS[:-1]]
    ratios, divergences = [row[2] for row in rows], [row[3] for row in rows]
    assert agrees(min(ratios), "1.09")
    assert agrees(max(ratios), "1.18")
    assert agrees(min(divergences), "1.7e-4")
    # Printed as 1.1e-3; the divergence is 1.049e-3, and 1.051e-3 the other way round.
    assert abs(max(divergences) - 1.049e-3) < 1e-6


def per_sample_entropy(target: GridMixture, pi: torch.Tensor) -> float:
    """E_pi H(p(mode | theta)) / log M, the form that the paper prints."""
    table = target.responsibilities(target.space.states())
    entropy = torch.special.entr(table).sum(-1) / math.log(table.shape[-1])
    return float(pi @ entropy)


def test_released_responsibilities_give_the_entropies_of_the_settings() -> None:
    """A.3: MoG 8 target .134, uniform .138, one peak .02; MoS 8 target .865, its highest cell 1.000."""
    gaussians, students = build("mog", 8, "released"), build("mos", 8, "released")
    uniform = torch.full((101**2,), 1 / 101**2, dtype=torch.float64)

    def peak(target: GridMixture) -> torch.Tensor:
        pi = torch.zeros_like(uniform)
        pi[target.probabilities().argmax()] = 1
        return pi

    for target, pi, printed in [
        (gaussians, gaussians.probabilities(), ".134"),
        (gaussians, uniform, ".138"),
        (gaussians, peak(gaussians), ".02"),
        (students, students.probabilities(), ".865"),
        (students, peak(students), "1.000"),
    ]:
        assert agrees(per_sample_entropy(target, pi), printed)
