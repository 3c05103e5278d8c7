"""Tensors of a recorded step: their places, and copies that stay as they are."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.replay.kept_tensors import ALIGNMENT, KeptTensors


def some() -> list[Tensor]:
    return [
        torch.rand(3, 1, 5),
        torch.tensor(7),
        torch.rand(3, 1, 5) < 0.5,
        torch.rand(2, 3, dtype=torch.float64),
        torch.rand(3, 1, 5),
        torch.empty(0, 4),
        torch.rand(1, 5).expand(4, 5),
    ]


def assert_same(found: list[Tensor], expected: list[Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)


def test_copies_are_what_was_kept_and_stay_so() -> None:
    first, second = some(), some()
    kept = KeptTensors(first)
    kept.fill(first)
    found = list(kept.copies())
    assert_same(found, first)
    kept.fill(second)
    assert_same(found, first)
    assert_same(list(kept.copies()), second)
    assert all(each.is_contiguous() for each in [*kept.places, *found])
    assert all(each.data_ptr() % ALIGNMENT == 0 for each in kept.places)


def test_values_that_stand_at_other_places_are_read_before_they_are_overwritten() -> None:
    given = some()
    kept = KeptTensors(given)
    kept.fill(given)
    places = list(kept.places)
    places[0], places[4] = places[4], places[0]
    kept.fill(places)
    given[0], given[4] = given[4], given[0]
    assert_same(list(kept.copies()), given)
