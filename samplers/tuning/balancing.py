"""The tuning of AB: its balancing constant by the largest jumps, each candidate at its own step size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from samplers.discrete.ab import AB
from samplers.hyperparameters import AUTO, balanced, positive, positive_or_auto, wanted_acceptance
from samplers.kernel import Kernel
from samplers.pilot_run import PilotRun, Steps, Values
from samplers.tuning.pilots.shortfall import shortfall
from samplers.tuning.pilots.sought_step_sizes import PRECISION, Pilot, Sought, StepSizes
from samplers.tuning.pilots.step_size import CHECKED, tune_step_size
from samplers.tuning.tunable import Settings, TuningResult
from targets.target import Target

BALANCING_CANDIDATES = (0.5, 0.6, 0.75, 0.9)
"""What a pilot chooses the balancing constant from, between locally (1/2) and globally balanced (1)."""

STEP_SIZE_PILOT = Pilot(chains=16)
"""Size of the pilot that tunes sigma^2 for each balancing constant."""

JUMP_CHAINS, JUMP_STEPS = 128, 400
"""Size of a full pilot that compares balancing constants."""


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
        balancing = 0.5 if self.balancing == AUTO else balanced(self.balancing, auto=True)
        wanted_acceptance(self.acceptance)
        self.keep(AB(1.0, balancing), step_size=self.step_size, balancing=self.balancing)

    def kernel_at(self, hyperparameters: Mapping[str, Any]) -> Kernel:
        return AB(hyperparameters["step_size"], hyperparameters["balancing"])

    def tuning(self, target: Target, run: PilotRun[TuningResult]) -> Steps[TuningResult]:
        like = target.like()
        balancings = BALANCING_CANDIDATES if "balancing" in self.open else (self.balancing,)
        report: dict[str, Any] = {"wanted_acceptance": self.acceptance, "balancing": list(balancings)}
        evaluations, best = 0, 0
        jump_steps = run.sized(JUMP_STEPS, 40) if "balancing" in self.open else 0
        run.planned = jump_steps + ("step_size" in self.open) * sum(STEP_SIZE_PILOT.sizes(run))
        tuned: tuple[Sought, StepSizes] | None = None
        if "step_size" in self.open:
            others = {"balancing": torch.tensor(balancings)}
            sought = Sought(AB, torch.ones(len(balancings)), self.acceptance, others)
            found = yield from tune_step_size(run, sought, STEP_SIZE_PILOT)
            tuned, step_sizes, evaluations = (sought, found), found.sizes, found.evaluations
        else:
            step_sizes = positive("step_size", self.step_size).expand(len(balancings))
        if "balancing" in self.open:
            sizes, constants = step_sizes.to(like), torch.tensor(balancings).to(like)
            kernel = AB(sizes.reshape(-1, 1, 1), constants.reshape(-1, 1, 1))
            shape = (len(balancings), 1, JUMP_CHAINS)
            seen = yield from mean_squared_jump(
                run, kernel, lambda: target.initial(shape, run.generator), jump_steps
            )
            best = int(seen.jumps.argmax())
            evaluations += seen.evaluations
            report["mean_squared_jump"] = seen.jumps.tolist()
            report["acceptance"] = seen.acceptance.tolist()
        report["step_size"] = step_sizes.tolist()
        if tuned is not None:
            (sought, found), chosen = tuned, torch.tensor([best])
            report |= shortfall(run, sought.part(chosen), found.part(chosen))
        numbers = {"step_size": step_sizes[best].item(), "balancing": balancings[best]}
        return TuningResult(numbers, evaluations, report)


@dataclass(frozen=True)
class Jumps:
    """E|x' - x|^2 and the mean acceptance of n kernels ``(n,)``, and the evaluations spent per chain."""

    jumps: Tensor
    acceptance: Tensor
    evaluations: int


def mean_squared_jump(
    run: PilotRun[Any], kernel: Kernel, start: Callable[[], Tensor], steps: int
) -> Steps[Jumps]:
    """How far chains jump, per leading index of their `start` ``(n, 1, chains, *event_shape)``.

    The means are over the second half of `steps` steps at beta = 1, or as much of it as makes all standard
    errors small (`samplers.tuning.pilots.sought_step_sizes.PRECISION`).
    """
    target, like = run.target, run.target.like()
    beta = torch.ones((), dtype=like.dtype, device=like.device)

    def begin() -> Values:
        state = kernel.init(target, start(), beta)
        zeros = torch.zeros_like(state.log_prob, dtype=torch.float64)
        sums = {"jumps": zeros, "acceptance": zeros.clone()}
        return {"state": state, **sums, "counted": 0, "evaluations": 0}

    def step(values: Values) -> bool:
        before = values["state"].theta
        values["state"], info = kernel.step(target, values["state"], beta, run.generator)
        values["evaluations"] += info.evaluations
        if values["steps"] < steps // 2:
            return False
        values["jumps"] += (values["state"].theta - before).square().flatten(start_dim=3).sum(-1)
        values["acceptance"] += info.acceptance
        values["counted"] += 1
        if values["counted"] % CHECKED:
            return False
        means = values["jumps"].flatten(1) / values["counted"]
        errors = means.std(1) / math.sqrt(means.shape[1])
        return bool((errors <= PRECISION * means.mean(1)).all())

    values = yield from run.walk(begin, step, steps)
    jumps, acceptance = (values[name].mean((1, 2)) / values["counted"] for name in ("jumps", "acceptance"))
    return Jumps(jumps, acceptance, values["evaluations"])
