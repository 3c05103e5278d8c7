"""Sequential swaps: what a round computes grows with the replicas as a line, also without writes in place."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from samplers import Swaps
from samplers.kernel import State
from samplers.tempering.swaps.swap_round import SwapMemory
from samplers.tempering.swaps.swap_rules import Rungs
from targets import Binary
from tests.support.steps.stepping import seeded
from tests.support.targets.small_targets import random_target

CHAINS = 100


class Produced(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the numbers that operations write in the ``with`` block."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.numbers = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        found = func(*args, **(kwargs or {}))
        if not func.is_view:
            self.numbers += sum(each.numel() for each in tree_leaves(found) if isinstance(each, Tensor))
        return found


def numbers_of_a_round(replicas: int, rule: str) -> int:
    """As a compiler sees it: a write into a part of a tensor is a new tensor."""
    target, swaps, generator = random_target(Binary(3)), Swaps(rule, "sequential"), seeded(0)
    betas = torch.linspace(1.0, 0.0, replicas, dtype=torch.float64).unsqueeze(-1)
    theta = target.space.states(torch.float64)[torch.randint(0, 8, (replicas, CHAINS), generator=seeded(1))]

    def swapped(log_prob: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        state = State(theta, log_prob, None, {})
        moved, info, past = swaps.round(
            target, state, state, Rungs(betas), SwapMemory.start(log_prob), generator
        )
        return moved.theta, info.accepted, past.memory

    with Produced() as found:
        torch.func.functionalize(swapped)(target.log_prob(theta))
    return found.numbers


@pytest.mark.parametrize("rule", ["metropolis", "released"])
def test_a_round_of_sequential_swaps_grows_with_the_replicas_as_a_line(rule: str) -> None:
    four, eight, sixteen = (numbers_of_a_round(replicas, rule) for replicas in (4, 8, 16))
    assert sixteen - eight == pytest.approx(2 * (eight - four), rel=0.01)
