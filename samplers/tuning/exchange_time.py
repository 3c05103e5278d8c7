"""Replica exchange Langevin from a configuration: with its time step, or the tuning of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from samplers.hyperparameters import AUTO, positive_or_auto, within
from samplers.kernel import Kernel
from samplers.kernel_family import family_of
from samplers.tempering.replica_exchange_langevin import ReplicaExchangeLangevin
from samplers.tuning.inner import inner_kernel
from samplers.tuning.step_size import tune_step_size
from samplers.tuning.tunable import Tunable, TuningResult
from targets.randomness import Generator
from targets.target import Target


class ExchangeTuning(Tunable):
    """`ReplicaExchangeLangevin` with an open time step.

    Args:
        kernel: MALA or ULA.
        settings: `ReplicaExchangeLangevin`'s other arguments.
        acceptance: what every replica's move is accepted with at least.
    """

    open = ("step_size",)

    def __init__(self, kernel: Kernel, settings: Mapping[str, Any], acceptance: float) -> None:
        self.base, self.settings, self.acceptance = kernel, dict(settings), acceptance
        self.example: ReplicaExchangeLangevin = self.kernel({"step_size": 1.0})

    def kernel(self, hyperparameters: Mapping[str, Any]) -> ReplicaExchangeLangevin:
        return ReplicaExchangeLangevin(self.base, step_size=hyperparameters["step_size"], **self.settings)

    def tune(self, target: Target, generator: Generator) -> TuningResult:
        """The longest h at which every replica's move is accepted with the wanted probability or more.

        The pilot leaves the Gaussian of the hottest level out.
        """
        self.check(target)
        betas, speeds = self.example.levels.betas, self.example.speeds
        # Where beta is 0 no move is rejected because of the target.
        tempered = betas > 0
        sizes, seen, evaluations = tune_step_size(
            family_of(self.base), target, betas[tempered], generator, wanted=self.acceptance
        )
        times = sizes.cpu() / speeds[tempered]
        report = {
            "wanted_acceptance": self.acceptance,
            "lowest_acceptance": seen.min().item(),
            "longest_times": times.tolist(),
        }
        return TuningResult({"step_size": times.min().item()}, evaluations * len(times), report)


def replica_exchange_langevin(
    kernel: Kernel | Tunable,
    ladder: Sequence[float],
    step_size: float | str = AUTO,
    tau: float | Sequence[float] | None = None,
    rho: float = 1.0,
    scale: float | None = None,
    acceptance: float = Kernel.optimal_acceptance,
) -> Kernel | Tunable:
    """`ReplicaExchangeLangevin` with its numbers, or its tuning.

    Args:
        kernel: MALA or ULA; its own step size is not used.
        ladder, tau, rho, scale: as for `ReplicaExchangeLangevin`.
        step_size: h, the time of a step, or ``"auto"``: as long as each replica's move is accepted with
            probability `acceptance` or more.
        acceptance: what an automatic step size aims at.
    """
    settings = {"ladder": ladder, "tau": tau, "rho": rho, "scale": scale}
    base = inner_kernel(kernel)
    time = positive_or_auto("step_size", step_size)
    tuning = ExchangeTuning(base, settings, within("acceptance", acceptance, 0.01, 0.99))
    return tuning if time is None else tuning.kernel({"step_size": step_size})
