"""Tries a step of a kernel, before chains run with it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State
from targets.checks import described
from targets.randomness import Streams
from targets.target import Target


@torch.no_grad()
def try_step(kernel: Kernel, target: Target, theta: Tensor, beta: Tensor) -> None:
    """Refuses a kernel that cannot step from `theta`, or whose `step` does not return what `Kernel` says.

    What is wrong there does not always fail: an acceptance of another shape is spread over the chains, and
    numbers from torch's global generator change with whatever else draws from it.

    Args:
        theta: states ``(*axes, 1, chains, *event_shape)``.

    Raises:
        ValueError: as the kernel does, or naming what it gave and what was expected, in one sentence.
    """
    name = type(kernel).__name__
    state = kernel.init(target, theta, beta)
    before = torch.get_rng_state()
    # Not the random numbers of a run, which would be others then.
    given: Any = kernel.step(target, state, beta, Streams([0], "trial", theta.device))
    if not torch.equal(before, torch.get_rng_state()):
        raise ValueError(
            f"{name}.step draws from torch's global generator; its random numbers must come from the "
            "generator that it is given, as by targets.randomness.uniform"
        )
    after, info = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if not isinstance(after, State) or not isinstance(info, Info):
        got = described(given) if info is None else f"a pair of {described(after)} and {described(info)}"
        raise ValueError(f"{name}.step must return a pair of a State and an Info, it gave {got}")
    batch = state.log_prob.shape[len(kernel.axes) :]
    expected = (
        ("the state's theta", after.theta, state.theta.shape),
        ("the state's log_prob", after.log_prob, state.log_prob.shape),
        ("Info.acceptance", info.acceptance, batch),
        ("Info.jump", info.jump, batch),
    )
    for what, value, shape in expected:
        if not isinstance(value, Tensor) or value.shape != shape:
            got = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else described(value)
            raise ValueError(f"{name}.step must give {what} as a tensor of shape {tuple(shape)}, not {got}")
    if isinstance(info.evaluations, bool) or not isinstance(info.evaluations, int):
        raise ValueError(
            f"{name}.step must give Info.evaluations as a whole number, not {described(info.evaluations)}"
        )
