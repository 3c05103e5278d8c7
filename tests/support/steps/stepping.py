"""Chains that take steps: how tests start them, walk them and count what they evaluate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State
from samplers.tensor_tree import tensors
from targets.randomness import Generator, Streams
from targets.target import SingleSiteDifferences, Target

ONE = torch.ones((), dtype=torch.float64)


def equal(one: object, other: object) -> bool:
    """Whether two states, or what two steps say, have the same tensors."""
    return all(torch.equal(mine, theirs) for mine, theirs in zip(tensors(one), tensors(other), strict=True))


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def started(kernel: Kernel, target: Target, batch: tuple[int, ...], generator: Generator) -> State:
    """Chains of this batch at the target's own start, at inverse temperature 1."""
    theta = target.initial((*kernel.axes, *batch), generator)
    return kernel.init(target, theta, torch.ones((), dtype=theta.dtype))


def chains(kernel: Kernel, target: Target) -> State:
    """60 chains of each of two seeds."""
    theta = target.initial((2, 60), Streams([0, 1], "start"))
    return kernel.init(target, theta, ONE.to(target.like()))


def walked(
    kernel: Kernel, target: Target, state: State, steps: int, generator: Generator, beta: Tensor | None = None
) -> tuple[State, Info]:
    """Where `steps` steps lead, and what the last one did."""
    one = torch.ones((), dtype=state.theta.dtype) if beta is None else beta
    for _ in range(steps):
        state, info = kernel.step(target, state, one, generator)
    return state, info


@contextmanager
def counted(target: Target) -> Iterator[list[int]]:
    """How many states `target` is asked for, call by call; autograd's own calls are not counted."""
    found: list[int] = []
    inside = False

    def counting(method: str) -> None:
        plain = getattr(target, method)

        def call(theta: Tensor) -> object:
            nonlocal inside
            if inside:
                return plain(theta)
            found.append(target.space.batch_shape(theta).numel())
            inside = True
            try:
                return plain(theta)
            finally:
                inside = False

        setattr(target, method, call)

    methods = ["log_prob", "log_prob_and_grad"]
    methods += ["log_prob_and_differences"] * isinstance(target, SingleSiteDifferences)
    for method in methods:
        counting(method)
    try:
        yield found
    finally:
        for method in methods:
            delattr(target, method)
