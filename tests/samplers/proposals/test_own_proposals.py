"""A proposal of one's own that is derived from one of ours proposes for itself, in any precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from metrics import run_chains
from samplers.continuous.gaussian_random_walk import GaussianStep
from samplers.kernel import State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.continuous_langevin import LangevinDiffusionProposal
from samplers.proposals.cyclical_langevin import CyclicalLangevin
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.proposals.entropic_langevin import EntropicLangevin
from samplers.proposals.jump_process import JumpProcess, interpolated
from samplers.proposals.newton_langevin import NewtonLangevin
from targets import LogQuadratic
from targets.randomness import Generator
from targets.spaces import Space

STEP = torch.tensor(0.3, dtype=torch.float64)


class AllFlipped(LangevinProposal):
    """All bits are flipped."""

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        return 1.0 - state.theta, torch.zeros_like(state.log_prob)

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        return torch.zeros_like(source.log_prob)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_is_what_the_chains_move_by(dtype: torch.dtype) -> None:
    target = LogQuadratic(d=5).to(dtype)
    found = run_chains(target, MetropolisHastings(AllFlipped(STEP)), chains=4, steps=50)
    assert {float(jump) for info in found.infos for jump in info.jump[0]} == {0.0, 5.0}


@pytest.mark.parametrize(
    ("cls", "arguments"),
    [
        (LangevinProposal, lambda step: (step, 0.7, 3.0)),
        (NewtonLangevin, lambda step: (step, step)),
        (JumpProcess, lambda step: (step, torch.sqrt, interpolated)),
        (LangevinDiffusionProposal, lambda step: (step,)),
        (GaussianStep, lambda step: (step,)),
        (CyclicalLangevin, lambda step: (step.expand(3), step.expand(3))),
        (EntropicLangevin, lambda step: (step, 0.5, 0.2)),
    ],
)
def test_a_copy_is_of_its_own_class_and_as_if_built_in_that_precision(
    cls: type[Any], arguments: Callable[[Tensor], tuple[Any, ...]]
) -> None:
    own = type("Own", (cls,), {})(*arguments(STEP))
    own.counted = torch.tensor([3])
    like = torch.zeros((), dtype=torch.float32)
    moved = own.to(like)
    assert type(moved) is type(own)
    assert moved.counted.dtype == torch.int64
    built = vars(cls(*arguments(STEP.float())))
    for name, value in built.items():
        if isinstance(value, Tensor):
            assert torch.equal(vars(moved)[name], value), name
            assert vars(moved)[name].dtype == torch.float32, name
            assert vars(own)[name].dtype == torch.float64, "the given one stays as it was"


def test_constant_cycles_of_ones_own_have_no_tables() -> None:
    assert CyclicalLangevin(STEP.expand(3), STEP.expand(3)).constant() is not None
    assert type("Own", (CyclicalLangevin,), {})(STEP.expand(3), STEP.expand(3)).constant() is None
