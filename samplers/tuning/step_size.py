"""A step size for a given acceptance, from one batched pilot.

Many step sizes are tried at once: they are a leading batch axis. The wanted one is read off where the
mean acceptance first falls through the target value, so that a global step size at which acceptance
happens to rise again is never taken for a local one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from samplers.kernel import Kernel
from samplers.kernel_family import KernelFamily, family_of
from samplers.tuning.tunable import Tunable, TuningResult
from targets.randomness import Generator
from targets.spaces import Discrete, Ordinal
from targets.target import Target


@dataclass(frozen=True)
class Pilot:
    """Size of the pilot: `candidates` step sizes, `chains` of each, `steps` of which half are measured."""

    candidates: int = 25
    chains: int = 32
    steps: int = 400


PER_RUNG = Pilot(candidates=25, chains=16, steps=300)
"""For a ladder, each of whose rungs has candidates of its own."""


def check_finite(*values: Tensor) -> None:
    """Refuses what a pilot saw of a target that is not finite everywhere.

    Raises:
        ValueError: if there is a NaN or an infinity.
    """
    if not all(bool(value.isfinite().all()) for value in values):
        raise ValueError("the target gave a log density that is NaN or infinite in the tuning pilot")


def step_size_range(target: Target) -> tuple[float, float]:
    """The step sizes worth trying: from nearly frozen to nearly uniform.

    In squared state units; on binary and categorical spaces a level is one unit away.
    """
    space = target.space
    if isinstance(space, Ordinal):
        return 0.05, float(space.levels - 1) ** 2
    if isinstance(space, Discrete):
        return 0.02, 20.0
    return 1e-4, 1e2


def first_crossing(step_sizes: Tensor, acceptance: Tensor, wanted: float) -> Tensor:
    """Where `acceptance` ``(candidates, *rungs)`` first falls through `wanted`, log-linear between.

    Where it never does, the last step size; where it starts below, the first. Shape ``(*rungs)``, float64.
    """
    logs = step_sizes.double().log()
    below = acceptance < wanted
    first = torch.where(below.any(0), below.to(torch.int64).argmax(0), len(logs) - 1)
    previous = (first - 1).clamp(min=0)
    high = acceptance.gather(0, previous.unsqueeze(0)).squeeze(0).double()
    low = acceptance.gather(0, first.unsqueeze(0)).squeeze(0).double()
    gap = (high - low).clamp(min=1e-12)
    share = torch.where(below.any(0), ((high - wanted) / gap).clamp(0.0, 1.0), torch.ones_like(gap))
    return (logs[previous] + share * (logs[first] - logs[previous])).exp()


def tune_step_size(
    family: KernelFamily,
    target: Target,
    betas: Tensor,
    generator: Generator,
    *,
    wanted: float = Kernel.optimal_acceptance,
    pilot: Pilot | None = None,
) -> tuple[Tensor, Tensor, int]:
    """Step sizes ``(K,)`` at which kernels of `family` accept with probability `wanted` at `betas` ``(K,)``.

    Returns:
        The step sizes (float64), the acceptance interpolated there is `wanted` where it is reachable; the
        mean acceptance of each candidate ``(candidates, K)``; and the evaluations spent per pilot chain.

    Raises:
        ValueError: if the target's log density is not finite where the pilot goes.
    """
    pilot = pilot or Pilot()
    like = target.like()
    low, high = step_size_range(target)
    candidates = torch.logspace(
        torch.tensor(low).log10().item(), torch.tensor(high).log10().item(), pilot.candidates
    ).to(like)
    tried = adjusted_form(family(candidates.reshape(-1, 1, 1, 1)))
    ladder = betas.to(like).reshape(1, -1, 1, 1)
    theta = target.initial((pilot.candidates, len(betas), 1, pilot.chains), generator)
    state = tried.start(target, theta, ladder, generator)
    total = torch.zeros((pilot.candidates, len(betas)), dtype=torch.float64, device=theta.device)
    evaluations = 0
    for step in range(pilot.steps):
        state, info = tried.step(target, state, ladder, generator)
        evaluations += info.evaluations
        if step >= pilot.steps // 2:
            total += info.acceptance.mean((-2, -1), dtype=torch.float64)
    acceptance = total / (pilot.steps - pilot.steps // 2)
    check_finite(state.log_prob, acceptance)
    return first_crossing(candidates, acceptance, wanted), acceptance, evaluations


def tune_rungs(
    kernel: Kernel, target: Target, betas: Tensor, generator: Generator, acceptance: float
) -> tuple[Tensor, int]:
    """Step sizes ``(K,)`` of the rungs or levels `betas` around `kernel`, and the evaluations spent."""
    sizes, _, spent = tune_step_size(
        family_of(kernel), target, betas, generator, wanted=acceptance, pilot=PER_RUNG
    )
    return sizes.double().cpu(), spent * len(betas)


def adjusted_form(kernel: Kernel) -> Kernel:
    """`kernel` with an acceptance step: what the step size of one that rejects nothing is tuned by."""
    if getattr(kernel, "adjusted", True):
        return kernel
    adjusted: Any = copy.copy(kernel)
    adjusted.adjusted = True
    return cast(Kernel, adjusted)


class StepSizeTuning(Tunable):
    """A kernel whose step size alone is open, tuned to a mean acceptance at beta = 1.

    Args:
        cls: the kernel's class; its constructor takes a ``step_size``.
        settings: the other arguments of its constructor.
        acceptance: the mean acceptance probability that tuning aims at; that of the adjusted form where the
            kernel rejects nothing.
    """

    open = ("step_size",)

    def __init__(self, cls: Callable[..., Kernel], settings: Mapping[str, Any], acceptance: float) -> None:
        self.cls, self.settings, self.acceptance = cls, dict(settings), acceptance
        self.example = self.at(1.0)

    def at(self, step_size: float | Tensor) -> Kernel:
        """The kernel at a step size."""
        return self.cls(step_size=step_size, **self.settings)

    def kernel_at(self, hyperparameters: Mapping[str, Any]) -> Kernel:
        return self.at(hyperparameters["step_size"])

    def tune(self, target: Target, generator: Generator) -> TuningResult:
        self.check(target)
        step_size, seen, evaluations = tune_step_size(
            self.at, target, torch.ones(1), generator, wanted=self.acceptance
        )
        report = {"wanted_acceptance": self.acceptance, "lowest_acceptance": seen.min().item()}
        return TuningResult({"step_size": step_size.item()}, evaluations, report)
