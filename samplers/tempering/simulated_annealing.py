"""Simulated annealing around any kernel: every step is one at the next inverse temperature of a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State
from samplers.kernel_family import family_of, ladder_step_sizes, resized
from samplers.tempering.annealing_schedule import annealing_schedule
from samplers.tempering.around_kernel import AroundKernel
from targets.randomness import Generator
from targets.target import Target

POSITION = "annealing.position"
"""Key in ``State.aux`` of the place in the schedule, an int64 scalar."""


class SimulatedAnnealing(AroundKernel):
    """Steps of `kernel` at an inverse temperature that rises along a schedule, then stays at its last value.

    For optimisation: the draws are not from the target, neither on the way nor at the end, since the chains
    depend on the schedule. `State.log_prob` is untempered.

    Spaces: as the kernel.
    Cost: as the kernel.
    Source: Kirkpatrick, Gelatt and Vecchi (1983).

    Args:
        kernel: any kernel.
        steps: length of the schedule, that of the run as a rule.
        schedule: ``linear``, ``geometric`` or ``exponential``
            (`samplers.tempering.annealing_schedule.annealing_schedule`).
        hottest: the first inverse temperature.
        coldest: the last one.
        step_size: one for all steps; several at evenly spaced places of the schedule, from the hot end, in
            equal ratios between them; or None for that of `kernel`, if it has one.

    Raises:
        ValueError: for a schedule or step sizes that do not fit.
    """

    exact = False
    draws_target = False
    temperable = False

    def __init__(
        self,
        kernel: Kernel,
        steps: int,
        schedule: str = "geometric",
        hottest: float = 0.05,
        coldest: float = 1.0,
        step_size: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(kernel)
        self.betas = annealing_schedule(steps, schedule, hottest, coldest)
        several = isinstance(step_size, Sequence) or getattr(step_size, "ndim", 0) == 1
        sizes = ladder_step_sizes(kernel, step_size, len(step_size) if several else None)  # type: ignore[arg-type]
        self.step_sizes = None if sizes is None else _along(sizes, steps)
        self.whole = None if self.step_sizes is None else family_of(kernel)(self.step_sizes)

    def at(self, position: Tensor) -> Kernel:
        """The kernel with the step size at a place of the schedule, an int64 scalar."""
        if self.step_sizes is None or self.whole is None:
            return self.base
        return resized(self.whole, self.step_sizes.gather(0, position))

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        start = torch.zeros((), dtype=torch.int64, device=theta.device)
        state = self.at(start).init(target, theta, beta * self.betas.gather(0, start))
        return replace(state, aux={**state.aux, POSITION: start})

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        position = state.aux[POSITION]
        inner = {name: value for name, value in state.aux.items() if name != POSITION}
        here = replace(state, aux=inner)
        after, info = self.at(position).step(target, here, beta * self.betas.gather(0, position), generator)
        following = (position + 1).clamp(max=len(self.betas) - 1)
        return replace(after, aux={**after.aux, POSITION: following}), info


def _along(sizes: Tensor, steps: int) -> Tensor:
    """The step size of each step ``(steps,)`` from one, or from several at evenly spaced places."""
    if sizes.dim() == 0 or len(sizes) == 1:
        return sizes.expand(steps).clone()
    place = torch.linspace(0.0, len(sizes) - 1.0, steps, dtype=torch.float64)
    before = place.floor().long().clamp(max=len(sizes) - 2)
    logs = sizes.double().log()
    return torch.lerp(logs[before], logs[before + 1], place - before).exp()
