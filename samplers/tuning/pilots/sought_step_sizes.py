"""What a pilot for step sizes is asked, with how many steps and chains, and what it answers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from torch import Tensor

from samplers.kernel import Kernel
from samplers.kernel_family import first_built
from samplers.pilot_run import PilotRun
from targets.target import Target

PRECISION = 0.02
"""A closer look ends when the standard error of the acceptance is this share of the wanted one."""


@dataclass(frozen=True)
class Pilot:
    """Size of a full pilot.

    Attributes:
        candidates, steps: of the first look, half of whose steps are measured.
        chains: of each candidate.
        closer: steps of the closer look at most, of which the first quarter is not measured.
    """

    candidates: int = 13
    chains: int = 32
    steps: int = 100
    closer: int = 200

    def sizes(self, run: PilotRun[Any]) -> tuple[int, int]:
        """Steps of the first look and of the closer one, as the effort of `run` allows."""
        return run.sized(self.steps, 10), run.sized(self.closer, 20)


PER_RUNG = Pilot(chains=16, steps=80, closer=100)
"""For a ladder, each of whose rungs has candidates of its own."""


@dataclass(frozen=True)
class Sought:
    """Step sizes of `family` that are accepted with probability `wanted` at inverse temperatures ``(K,)``.

    Attributes:
        others: other hyperparameters of the family by name, one for each inverse temperature ``(K,)``.
    """

    family: Callable[..., Kernel]
    betas: Tensor
    wanted: float = Kernel.optimal_acceptance
    others: Mapping[str, Tensor] = field(default_factory=dict)

    def reach(self, target: Target) -> tuple[float, float]:
        """The smallest and the largest step size worth trying on `target`."""
        built = first_built(lambda size: self.kernel(torch.full((1, len(self.betas)), size)))
        return built.step_size_range(target)

    def part(self, places: Tensor) -> Sought:
        """Of some of the inverse temperatures."""
        others = {name: values[places] for name, values in self.others.items()}
        return replace(self, betas=self.betas[places], others=others)

    def kernel(self, step_sizes: Tensor) -> Kernel:
        """With step sizes ``(candidates, K)``, for states ``(candidates, K, 1, chains, *event_shape)``."""
        others = {name: values.to(step_sizes).reshape(-1, 1, 1) for name, values in self.others.items()}
        return adjusted_form(self.family(step_sizes.reshape(*step_sizes.shape, 1, 1), **others))


@dataclass(frozen=True)
class StepSizes:
    """What a look found at K inverse temperatures.

    Attributes:
        sizes: step sizes with the wanted acceptance, ``(K,)``, float64, on the CPU.
        acceptance: mean acceptance of each candidate, ``(candidates, K)``.
        theta: where the chains stand whose step size is nearest, ``(K, 1, chains, *event_shape)``.
        evaluations: of the target, per chain.
        reached: the acceptance at `sizes` by the closer look, ``(K,)``: the wanted one, but where all that it
            tried were accepted less, or all more; None without such a look.
        unfinished: where that look ended before it had found the wanted one or an end of what is worth
            trying, ``(K,)``; None without it.
        falling: where its longest step size was accepted less than its shortest, by more than chance,
            ``(K,)``; None without it.
    """

    sizes: Tensor
    acceptance: Tensor
    theta: Tensor
    evaluations: int
    reached: Tensor | None = None
    unfinished: Tensor | None = None
    falling: Tensor | None = None

    def part(self, places: Tensor) -> StepSizes:
        """Of some of the inverse temperatures."""

        def some(values: Tensor | None) -> Tensor | None:
            return None if values is None else values[places]

        return replace(
            self,
            sizes=self.sizes[places],
            acceptance=self.acceptance[:, places],
            theta=self.theta[places],
            reached=some(self.reached),
            unfinished=some(self.unfinished),
            falling=some(self.falling),
        )


def adjusted_form(kernel: Kernel) -> Kernel:
    """`kernel` with an acceptance step: what the step size of one that rejects nothing is tuned by."""
    if getattr(kernel, "adjusted", True):
        return kernel
    adjusted: Any = copy.copy(kernel)
    adjusted.adjusted = True
    return cast(Kernel, adjusted)
