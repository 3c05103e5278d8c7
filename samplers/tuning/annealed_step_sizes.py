"""Simulated annealing from a configuration: a kernel of numbers, or the tuning of its step sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samplers.hyperparameters import AUTO, wanted_acceptance
from samplers.kernel import Kernel
from samplers.kernel_family import require_family, takes_step_size
from samplers.pilot_run import PilotRun, Steps
from samplers.tempering.simulated_annealing import SimulatedAnnealing
from samplers.tuning.pilots.sought_step_sizes import PER_RUNG
from samplers.tuning.pilots.step_size import tune_rungs
from samplers.tuning.tunable import Settings, Tunable, TuningResult, inner_kernel, wrapper_step_size
from targets.target import Target

PLACES = 8
"""Evenly spaced places of the schedule at which step sizes are tuned."""


@dataclass(eq=False)
class AnnealingSettings(Settings):
    """`SimulatedAnnealing` and the tuning of its step sizes.

    Args:
        kernel: what is annealed.
        steps, schedule, hottest, coldest: of the schedule.
        step_size: as the kernel takes it, or ``"auto"``: tuned to `acceptance` at 8 places of the schedule.
        acceptance: what step sizes are tuned to.
    """

    kernel: Kernel | Tunable
    steps: int = 1000
    schedule: str = "geometric"
    hottest: float = 0.05
    coldest: float = 1.0
    step_size: float | Sequence[float] | str | None = None
    acceptance: float = Kernel.optimal_acceptance

    def __post_init__(self) -> None:
        self.base = inner_kernel(self.kernel)
        wanted_acceptance(self.acceptance)
        step_size = wrapper_step_size(self.kernel, self.step_size)
        is_open = step_size == AUTO and takes_step_size(type(self.base))
        if is_open:
            require_family(self.base)
        self.keep(self.kernel_at({"step_size": None if is_open else step_size}), step_size=step_size)

    def kernel_at(self, hyperparameters: Mapping[str, Any]) -> SimulatedAnnealing:
        size = hyperparameters["step_size"]
        return SimulatedAnnealing(self.base, self.steps, self.schedule, self.hottest, self.coldest, size)

    def tuning(self, target: Target, run: PilotRun[TuningResult]) -> Steps[TuningResult]:
        run.planned = sum(PER_RUNG.sizes(run))
        betas = self.kernel_at({"step_size": None}).betas
        betas = betas[[round(place * (len(betas) - 1) / (PLACES - 1)) for place in range(PLACES)]]
        sizes, spent, short = yield from tune_rungs(run, self.base, betas, self.acceptance)
        return TuningResult({"step_size": sizes.tolist()}, spent, {"betas": betas.tolist(), **short})
