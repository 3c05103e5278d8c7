from __future__ import annotations

import itertools
import math

import pytest
import torch

from targets.synthetic.centres import COMPONENTS, centres_inside, lattice, released, ring, two_rings

RINGS = pytest.mark.parametrize("components", [10, 12, 14])


def polar(radius: float, turns: list[float]) -> set[tuple[float, float]]:
    angles = 2 * math.pi * torch.tensor(turns, dtype=torch.float64)
    return rounded(radius * torch.stack([angles.cos(), angles.sin()], dim=-1))


def rounded(centres: torch.Tensor) -> set[tuple[float, float]]:
    return {(round(x, 9) + 0.0, round(y, 9) + 0.0) for x, y in centres.tolist()}


def test_the_ring_is_filled_in_the_released_order() -> None:
    turns = [0, 1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8]
    for components in (2, 4, 6, 8):
        assert rounded(ring(components)) == polar(1, turns[:components])


@RINGS
def test_two_rings_are_eight_outside_and_the_rest_inside(components: int) -> None:
    inner = components - 8
    outer = polar(1.2, [k / 8 for k in range(8)])
    assert rounded(two_rings(components)) == outer | polar(0.6, [k / inner for k in range(inner)])


def test_the_lattice_has_its_coordinates_at_035_and_105() -> None:
    assert rounded(lattice()) == set(itertools.product((-1.05, -0.35, 0.35, 1.05), repeat=2))


@pytest.mark.parametrize("components", COMPONENTS)
def test_recommended_centres_are_separate_and_inside_the_square(components: int) -> None:
    centres = centres_inside(components)
    assert centres.shape == (components, 2)
    assert centres.dtype == torch.float64
    assert centres.abs().max() < 1.5
    assert torch.pdist(centres).min() > 0.6 - 1e-12


@RINGS
def test_released_centres_beyond_eight_are_on_the_circle_of_radius_two(components: int) -> None:
    turns = [0, 1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8][: components - 8]
    assert rounded(released(components)) == rounded(ring(8)) | polar(2, turns)
