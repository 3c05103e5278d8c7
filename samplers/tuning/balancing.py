"""The tuning of AB: its balancing constant by the largest jumps, each candidate at its own step size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from samplers.discrete.ab import AB, checked_balancing_constant
from samplers.hyperparameters import AUTO, positive, positive_or_auto, wanted_acceptance
from samplers.kernel import Kernel
from samplers.tuning.step_size import Pilot, tune_step_size
from samplers.tuning.tunable import Settings, TuningResult
from targets.randomness import Generator
from targets.target import Target

BALANCING_CANDIDATES = (0.5, 0.6, 0.75, 0.9)
"""What a pilot chooses the balancing constant from, between locally (1/2) and globally balanced (1)."""

STEP_SIZE_PILOT = Pilot(chains=16)
"""Size of the pilot that tunes sigma^2 for each balancing constant."""

JUMP_PILOT = Pilot(chains=128, steps=400)
"""Size of the pilot that compares balancing constants."""


@dataclass(eq=False)
class BalancedSettings(Settings):
    """AB and its tuning: one batched pilot for step sizes, and a second one to choose b.

    Args:
        step_size: sigma^2 in squared state units, or ``"auto"``: tuned to `acceptance`.
        balancing: b, from 0.5 to 1, or ``"auto"``: the one of `BALANCING_CANDIDATES` with the largest jumps.
        acceptance: the mean acceptance probability that tuning aims at.
    """

    step_size: float | str = AUTO
    balancing: float | str = AUTO
    acceptance: float = AB.optimal_acceptance

    def __post_init__(self) -> None:
        positive_or_auto("step_size", self.step_size)
        balancing = 0.5 if self.balancing == AUTO else checked_balancing_constant(self.balancing)
        wanted_acceptance(self.acceptance)
        self.keep(AB(1.0, balancing), step_size=self.step_size, balancing=self.balancing)

    def kernel_at(self, hyperparameters: Mapping[str, Any]) -> Kernel:
        return AB(hyperparameters["step_size"], hyperparameters["balancing"])

    def tune(self, target: Target, generator: Generator) -> TuningResult:
        like = target.like()
        balancings = BALANCING_CANDIDATES if "balancing" in self.open else (self.balancing,)
        balanced = partial(AB, balancing=torch.tensor(balancings).to(like).reshape(-1, 1, 1))
        report: dict[str, Any] = {"wanted_acceptance": self.acceptance, "balancing": list(balancings)}
        evaluations, best = 0, 0
        if "step_size" in self.open:
            ones = torch.ones(len(balancings))
            step_sizes, _, evaluations = tune_step_size(
                balanced, target, ones, generator, wanted=self.acceptance, pilot=STEP_SIZE_PILOT
            )
        else:
            step_sizes = positive("step_size", self.step_size).expand(len(balancings))
        if "balancing" in self.open:
            kernel = balanced(step_sizes.to(like).reshape(-1, 1, 1))
            start = target.initial((len(balancings), 1, JUMP_PILOT.chains), generator)
            jumps, acceptance, spent = mean_squared_jump(kernel, target, start, generator, JUMP_PILOT.steps)
            best = int(jumps.argmax())
            evaluations += spent
            report["mean_squared_jump"] = jumps.tolist()
            report["acceptance"] = acceptance.tolist()
        report["step_size"] = step_sizes.tolist()
        found = {"step_size": step_sizes[best].item(), "balancing": balancings[best]}
        return TuningResult(found, evaluations, report)


def mean_squared_jump(
    kernel: Kernel, target: Target, start: Tensor, generator: Generator, steps: int
) -> tuple[Tensor, Tensor, int]:
    """E|x' - x|^2 and the mean acceptance per leading index of `start` ``(n, 1, chains, *event_shape)``.

    Both have shape ``(n,)`` and come from the second half of `steps` steps at beta = 1; the third value is
    the number of evaluations spent per chain.
    """
    beta = torch.ones((), dtype=start.dtype, device=start.device)
    state = kernel.init(target, start, beta)
    jumps = torch.zeros(len(start), dtype=torch.float64, device=start.device)
    acceptance = torch.zeros_like(jumps)
    evaluations = 0
    for step in range(steps):
        before = state.theta
        state, info = kernel.step(target, state, beta, generator)
        evaluations += info.evaluations
        if step >= steps // 2:
            squares = (state.theta - before).square().flatten(start_dim=3).sum(-1)
            jumps += squares.mean((1, 2), dtype=torch.float64)
            acceptance += info.acceptance.mean((1, 2), dtype=torch.float64)
    measured = steps - steps // 2
    return jumps / measured, acceptance / measured, evaluations
