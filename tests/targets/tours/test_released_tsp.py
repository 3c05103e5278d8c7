"""The released instance of the travelling salesman: its ways by hand, its gradient by differentiation."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from targets import ExactlySampled, ReleasedTSP
from targets.tours.tour_space import HasTours
from tests.support.error_message import error_message
from tests.support.steps.no_host_sync import NoHostSync

A, B, C, D, E, F, G, H = 0b100, 0b010, 0b001, 0b110, 0b011, 0b101, 0b111, 0b000
ROOT2, ROOT3 = math.sqrt(2), math.sqrt(3)


def differentiated(target: ReleasedTSP, state: Tensor) -> Tensor:
    """Gradient of -scale times the weighted length in the corners, with the weights of the tour fixed."""
    tour = target.tour(state)
    corners = state.reshape(8, 3)
    apart = (corners - corners.roll(-1, 0)).norm(dim=-1)
    lengths = target.distances[tour, tour.roll(-1)]
    weights = torch.where(apart > 0, lengths / apart, 0.0)
    free = corners.clone().requires_grad_()
    ways = (free - free.roll(-1, 0)).square().sum(-1)
    cost = sum(weight * way.sqrt() for weight, way in zip(weights, ways, strict=True) if way > 0)
    assert isinstance(cost, Tensor)
    return -target.scale * torch.autograd.grad(cost, free)[0].flatten()


def test_the_ways_are_those_of_the_code() -> None:
    target = ReleasedTSP()
    ways = {
        **{(A, B): 2.0 * ROOT2, (B, A): 1.0 * ROOT2, (A, D): 1.2, (D, A): 1.7, (C, D): 1.6 * ROOT3},
        **{(B, H): 2.9, (H, B): 1.5, (E, G): 2.8, (G, E): 1.5, (G, H): 2.5 * ROOT3, (H, G): 1.7 * ROOT3},
        **{(F, B): 1.9 * ROOT3, (C, F): 1.6, (F, C): 1.7, (E, A): 1.9 * ROOT3, (H, E): 1.6 * ROOT2},
    }
    for (one, other), way in ways.items():
        assert target.distances[one, other].item() == pytest.approx(way, rel=1e-15)
    lengths = 2.0 * ROOT2 + 2.5 * ROOT2 + 1.6 * ROOT3 + 2.4 * ROOT2 + 2.5 * ROOT2 + 2.2 + 2.5 * ROOT3 + 1.8
    assert target.cost(torch.tensor([A, B, C, D, E, F, G, H])).item() == pytest.approx(lengths, rel=1e-15)
    # 56 weights from 1.0 to 2.9, which sum to 108.2.
    points = torch.tensor([[code >> 2 & 1, code >> 1 & 1, code & 1] for code in range(8)]).double()
    weights = target.distances / torch.cdist(points, points).fill_diagonal_(1.0)
    assert weights.sum().item() == pytest.approx(108.2)
    assert weights[weights > 0].aminmax() == pytest.approx((1.0, 2.9))


def test_a_state_is_the_list_of_corners() -> None:
    target = ReleasedTSP()
    state = target.state(torch.tensor([A, B, C, D, E, F, G, H]))
    assert "".join(str(int(bit)) for bit in state) == "100010001110011101111000"
    assert target.log_prob(state).item() == -target.cost(target.tour(state)).item()
    assert isinstance(target, HasTours)
    assert isinstance(target, ExactlySampled)


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_the_gradient_is_that_of_the_length_in_the_corners(scale: float) -> None:
    """At tours, and at lists with cities twice, two of them in a row."""
    target, generator = ReleasedTSP(scale), torch.Generator().manual_seed(0)
    tours = target.initial((30,), generator)
    others = target.space.initial((30,), generator, like=target.like())
    states = torch.cat([tours, others])
    with NoHostSync():
        log_prob, grad = target.log_prob_and_grad(states)
    assert torch.equal(log_prob, target.log_prob(states))
    assert log_prob[:30].isfinite().all()
    assert log_prob[30:].isneginf().any()
    for state, found in zip(states, grad, strict=True):
        torch.testing.assert_close(found, differentiated(target, state), rtol=1e-12, atol=1e-12)
    batch = target.log_prob_and_grad(states.reshape(2, 3, 10, 24))[1]
    assert torch.equal(batch.reshape(60, 24), grad)
    single = ReleasedTSP(scale).to(torch.float32).log_prob_and_grad(states.float())[1]
    torch.testing.assert_close(single, grad.float())


def test_a_scale_that_is_none_is_refused() -> None:
    said = "scale must be a positive number, 0 was given"
    assert error_message(ValueError, ReleasedTSP, 0) == said
