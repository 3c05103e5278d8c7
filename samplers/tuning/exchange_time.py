"""Replica exchange Langevin from a configuration: with its time step, or the tuning of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from samplers.hyperparameters import AUTO, decreasing_ladder, positive_or_auto, wanted_acceptance
from samplers.kernel import Kernel
from samplers.kernel_family import family_of
from samplers.metropolis_hastings import MetropolisHastings
from samplers.pilot_run import PilotRun, Steps
from samplers.tempering.level_move import LevelMove
from samplers.tempering.replica_exchange_langevin import ReplicaExchangeLangevin
from samplers.tuning.pilots.shortfall import shortfall
from samplers.tuning.pilots.sought_step_sizes import Pilot, Sought, adjusted_form
from samplers.tuning.pilots.step_size import tune_step_size
from samplers.tuning.tunable import Settings, Tunable, TuningResult, inner_kernel
from targets.checks import is_number, positive_number
from targets.target import Target


@dataclass(eq=False)
class ExchangeSettings(Settings):
    """`ReplicaExchangeLangevin` and the tuning of its time step.

    Args:
        kernel: MALA or ULA; its own step size is not used.
        ladder, tau, rho, scale: as for `ReplicaExchangeLangevin`.
        step_size: h, the time of a step, or ``"auto"``: as long as each replica's move is accepted with
            probability `acceptance` or more.
        acceptance: what an automatic step size aims at.
    """

    kernel: Kernel | Tunable
    ladder: Sequence[float]
    step_size: float | str = AUTO
    tau: float | Sequence[float] | None = None
    rho: float = 1.0
    scale: float | None = None
    acceptance: float = Kernel.optimal_acceptance

    def __post_init__(self) -> None:
        self.base = inner_kernel(self.kernel)
        positive_or_auto("step_size", self.step_size)
        wanted_acceptance(self.acceptance)
        decreasing_ladder(self.ladder, auto=False)
        positive_number("rho", self.rho)
        if self.scale is not None:
            positive_number("scale", self.scale)
        if is_number(self.tau) or isinstance(self.tau, str):
            positive_number("tau", self.tau)
        self.keep(self.kernel_at({"step_size": 1.0}), step_size=self.step_size)

    def kernel_at(self, hyperparameters: Mapping[str, Any]) -> ReplicaExchangeLangevin:
        time = hyperparameters["step_size"]
        return ReplicaExchangeLangevin(self.base, self.ladder, time, self.tau, self.rho, self.scale)

    def tuning(self, target: Target, run: PilotRun[TuningResult]) -> Steps[TuningResult]:
        """The longest h at which every replica's move is accepted with the wanted probability or more."""
        self.check(target)
        example = self.kernel_at({"step_size": 1.0})
        levels, speeds = example.levels, example.speeds
        run.planned = sum(Pilot().sizes(run))
        sought = Sought(family_of(self.base), levels.betas, self.acceptance)
        if levels.confined:
            sought = replace(sought, family=self._at_levels, others={"precision": levels.precision})
        found = yield from tune_step_size(run, sought)
        assert found.reached is not None
        times = found.sizes / speeds
        report = {
            "wanted_acceptance": self.acceptance,
            "lowest_acceptance": found.reached[times == times.min()].min().item(),
            "longest_times": times.tolist(),
            **shortfall(run, sought, found, speeds),
        }
        return TuningResult({"step_size": times.min().item()}, found.evaluations * len(times), report)

    def _at_levels(self, step_size: Tensor, precision: Tensor) -> LevelMove:
        """The moves of replicas, the hottest of which the Gaussian holds."""
        local = adjusted_form(family_of(self.base)(step_size))
        assert isinstance(local, MetropolisHastings)
        return LevelMove(local, precision)
