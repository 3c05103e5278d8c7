"""The operations that the bench counts in place of a GPU's."""

from __future__ import annotations

import torch

from runner.tools.bench.steps.operations import Device, Operations, operations
from samplers import DMALA
from targets import Bernoulli4


def test_what_is_started_moved_computed_and_waited_for() -> None:
    a, b, bias = torch.ones((2, 3)), torch.ones((3, 4)), torch.ones(4)
    with Operations() as found:
        product = a @ b
        product.T.view(4, 2).add_(1.0)
        torch.empty((5, 5))
    assert found.moved == [4 * (6 + 12 + 8), 4 * (8 + 8)]
    assert found.computed == [2 * 2 * 3 * 4, 0]
    assert found.waits == 0
    with Operations() as found:
        b[b[:, 0] > 0].sum().item()
    assert found.waits == 2
    slow = Device(bandwidth=52.0, flops=12.0)
    with Operations() as found:
        torch.addmm(bias, a, b)
    assert found.seconds(slow, launch=1.0) == 4.0
    assert found.seconds(slow, launch=5.0) == 5.0


def test_a_step_waits_for_nothing_and_seeds_add_their_draws_alone() -> None:
    one, two = (operations(DMALA(0.4), Bernoulli4().float(), chains=3, seeds=seeds) for seeds in (1, 2))
    assert one.waits == two.waits == 0
    assert 0 < len(two.moved) - len(one.moved) <= 4
