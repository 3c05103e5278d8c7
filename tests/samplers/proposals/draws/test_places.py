"""Draws of places: compiled ones, in two parts."""

from __future__ import annotations

import pytest
import torch

from samplers.proposals.draws.places import draw_place
from targets.compiling.tracing import traced
from targets.randomness import uniform
from tests.support.steps.stepping import seeded

DOUBLE = torch.empty(0, dtype=torch.float64)


@pytest.mark.parametrize("number", [7, 64, 784, 1010, 4096])
@pytest.mark.parametrize("draws", [1, 3])
def test_a_traced_draw_inverts_the_cumulative_weights(number: int, draws: int) -> None:
    """As a plain one does, from the same numbers: in float64 none lies within rounding of a place's end."""
    weights = uniform(seeded(1), (100,), (number,), like=DOUBLE) ** 4
    weights[::3, : number // 2] = 0.0
    weights[::5, -number // 3 :] = 0.0
    expected = draw_place(weights, seeded(2), draws)
    with traced():
        found = draw_place(weights, seeded(2), draws)
    assert torch.equal(found, expected)
    assert (weights.gather(-1, found) > 0).all()


def test_a_traced_draw_stays_within_what_has_weight() -> None:
    """In float32, where the last number below the total may round up to it; NaN leads to no place beyond."""
    weights = torch.zeros(20_000, 64)
    weights[:, 19:30] = 0.1
    with traced():
        found = draw_place(weights, seeded(3), 40)
        beyond = draw_place(torch.full((3, 64), torch.nan), seeded(4))
    assert found.min() == 19
    assert found.max() == 29
    assert (beyond < 64).all()
