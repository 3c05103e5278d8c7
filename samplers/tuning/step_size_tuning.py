"""A kernel whose step size alone is left to tuning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from samplers.kernel import Kernel
from samplers.kernel_family import first_built
from samplers.pilot_run import PilotRun, Steps
from samplers.tuning.pilots.shortfall import shortfall
from samplers.tuning.pilots.sought_step_sizes import Pilot, Sought
from samplers.tuning.pilots.step_size import tune_step_size
from samplers.tuning.tunable import Tunable, TuningResult
from targets.target import Target


class StepSizeTuning(Tunable):
    """A kernel whose step size alone is open, tuned to a mean acceptance at beta = 1.

    Args:
        cls: the kernel's class; its constructor takes a step size (`Kernel.step_name`).
        settings: the other arguments of its constructor.
        acceptance: the mean acceptance probability that tuning aims at; that of the adjusted form where the
            kernel rejects nothing.
    """

    def __init__(self, cls: type[Kernel], settings: Mapping[str, Any], acceptance: float) -> None:
        self.cls, self.settings, self.acceptance = cls, dict(settings), acceptance
        self.open = (cls.step_name,)
        self.example = first_built(self.at)

    def at(self, step_size: float | Tensor) -> Kernel:
        """The kernel at a step size."""
        return self.cls(**{self.cls.step_name: step_size}, **self.settings)

    def kernel_at(self, hyperparameters: Mapping[str, Any]) -> Kernel:
        return self.at(hyperparameters[self.cls.step_name])

    def tuning(self, target: Target, run: PilotRun[TuningResult]) -> Steps[TuningResult]:
        self.check(target)
        run.planned = sum(Pilot().sizes(run))
        sought = Sought(self.at, torch.ones(1), self.acceptance)
        found = yield from tune_step_size(run, sought)
        report = {
            "wanted_acceptance": self.acceptance,
            "lowest_acceptance": found.acceptance.min().item(),
            **shortfall(run, sought, found),
        }
        return TuningResult({self.cls.step_name: found.sizes.item()}, found.evaluations, report)
