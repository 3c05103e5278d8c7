"""A function where a kernel needs a target: one sentence, from kernels of ours and of a user's own."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from samplers import DMALA, EDMALA, MALA, Gibbs, Info, Kernel, ParallelTempering, State
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from targets import Binary, FunctionTarget, Real, Target
from targets.randomness import Generator

SENTENCE = re.escape(
    "target must be a targets.Target with a space, such as FunctionTarget(function, Binary(10)), "
    "the function log_prob was given; runner.sample takes a function and its space"
)
ONE = torch.ones(())


class Still(Kernel):
    """Moves nowhere; somebody's own, which looks at the target itself."""

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return State(theta, torch.zeros(target.space.batch_shape(theta)))

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        return state, Info(state.log_prob, state.log_prob, target.space.d)


def log_prob(theta: Tensor) -> Tensor:
    return -theta.square().sum(-1)


KERNELS: list[Callable[[], Kernel]] = [
    lambda: DMALA(step_size=0.4),
    lambda: EDMALA(step_size=0.4),
    Gibbs,
    Still,
    lambda: ParallelTempering(DMALA(step_size=0.4), [1.0, 0.5]),
    lambda: SimulatedTempering(Gibbs(), [1.0, 0.5], [0.0, 0.0]),
    lambda: MALA(step_size=0.4),
]


@pytest.mark.parametrize("make", KERNELS)
def test_a_function_is_refused_by_init_and_step(make: Callable[[], Kernel]) -> None:
    kernel, generator = make(), torch.Generator().manual_seed(0)
    target = FunctionTarget(log_prob, Real(4) if isinstance(kernel, MALA) else Binary(4))
    theta = torch.zeros(2, 3, 4)
    with pytest.raises(TypeError, match=SENTENCE):
        kernel.init(log_prob, theta, ONE)  # type: ignore[arg-type]
    state = kernel.init(target, theta, ONE)
    with pytest.raises(TypeError, match=SENTENCE):
        kernel.step(log_prob, state, ONE, generator)  # type: ignore[arg-type]
    kernel.step(target, state, ONE, generator)


def test_a_mistake_inside_a_target_stays_what_it_is() -> None:
    def mistaken(theta: Tensor) -> Tensor:
        return theta.smu(-1)  # type: ignore[attr-defined, no-any-return]

    with pytest.raises(AttributeError, match="smu"):
        Gibbs().init(FunctionTarget(mistaken, Binary(4)), torch.zeros(3, 4), ONE)
