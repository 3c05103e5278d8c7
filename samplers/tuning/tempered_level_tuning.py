"""Simulated tempering from a configuration: levels of numbers, or the tuning of what is open in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from samplers.continuous.gaussian_random_walk import GaussianWalk
from samplers.hyperparameters import AUTO, STMH, decreasing_ladder, is_word, move_rate, wanted_acceptance
from samplers.kernel import Kernel
from samplers.kernel_family import check_step_sizes, require_family
from samplers.pilot_run import PilotRun, Steps
from samplers.tempering.simulated.partition_functions import (
    CREDIBLE,
    PartitionFunctions,
    PartitionPilot,
    inductive,
)
from samplers.tempering.simulated.simulated_tempering import (
    SimulatedTempering,
    check_log_partition,
    level_step_sizes,
)
from samplers.tempering.simulated.stmh_ladder import LADDERS, mixture_of, radius, stmh_ladder
from samplers.tempering.simulated.stochastic_approximation import wang_landau
from samplers.tuning.pilots.ladder_rounds import LadderWanted, tune_ladder
from samplers.tuning.pilots.shortfall import joined
from samplers.tuning.pilots.step_size import tune_rungs
from samplers.tuning.tempered_ladder import planned_steps
from samplers.tuning.tunable import WARNINGS, Settings, Tunable, TuningResult, inner_kernel, wrapper_step_size
from targets.checks import one_of, whole_number
from targets.spaces import Real
from targets.target import Target

Estimator = Callable[[PilotRun[Any], SimulatedTempering, PartitionPilot], Steps[PartitionFunctions]]

PARTITIONS: dict[str, Estimator] = {"inductive": inductive, "wang_landau": wang_landau}


@dataclass(eq=False)
class LevelSettings(Settings):
    """`SimulatedTempering` and its tuning: the ladder, the step sizes and log Z_i, in this order.

    Args:
        kernel: what is tempered.
        ladder: inverse temperatures, decreasing from 1; ``"auto"``: tuned to equal rejection between
            neighbours, as for parallel tempering (discrete spaces only); ``"coarse"`` or ``"fine"``:
            STMH's for a Gaussian mixture (`samplers.tempering.simulated.stmh_ladder`).
        rate: lambda, the probability of a move between levels.
        log_partition: log Z_i of each level, from the cold one, or ``"auto"``: estimated in a pilot.
        partition: how: ``"inductive"`` (STMH, Algorithm 2) or ``"wang_landau"``.
        step_size: one for all levels, one per level of a given ladder, ``"auto"`` (each level tuned to
            `acceptance`), ``"stmh"`` (R of Eqs. C.23 and C.27 at every level; `GaussianWalk` on Gaussian
            mixtures only), or None for kernels that have none or have their own.
        max_levels: upper limit of the length of an ``"auto"`` ladder; ``"coarse"`` and ``"fine"`` have as
            many levels as their conditions ask for.
        acceptance: what step sizes are tuned to.
        pilot: size of the pilot that estimates the log Z_i.
    """

    kernel: Kernel | Tunable
    ladder: Sequence[float] | str = AUTO
    rate: float = 0.5
    log_partition: Sequence[float] | str = AUTO
    partition: str = "inductive"
    step_size: float | Sequence[float] | str | None = None
    max_levels: int = 32
    acceptance: float = Kernel.optimal_acceptance
    pilot: PartitionPilot | None = None

    def __post_init__(self) -> None:
        self.base = inner_kernel(self.kernel)
        betas = None if is_word(self.ladder, AUTO, *LADDERS) else decreasing_ladder(self.ladder)
        levels = None if betas is None else len(betas)
        step_size = wrapper_step_size(self.kernel, self.step_size)
        words = (AUTO, STMH) if isinstance(self.base, GaussianWalk) else (AUTO,)
        self.step_sizes = level_step_sizes(self.base, step_size, levels, words)
        move_rate(self.rate)
        one_of("partition", self.partition, PARTITIONS)
        self.wanted = LadderWanted(
            limit=whole_number("max_levels", self.max_levels, 2),
            step_size=self.step_sizes,
            acceptance=wanted_acceptance(self.acceptance),
        )
        log_partition: Any = self.log_partition
        if not is_word(log_partition, AUTO):
            log_partition = check_log_partition(log_partition, levels, auto=True).tolist()
        self.keep(
            self._chain(betas or [1.0, 0.5], None),
            ladder=betas or self.ladder,
            step_size=step_size,
            log_partition=log_partition,
        )
        if is_word(self.ladder, AUTO) or is_word(step_size, AUTO):
            require_family(self.base)

    def check(self, target: Target) -> None:
        """Refuses what cannot be found on `target`; costs nothing.

        Raises:
            ValueError: for a rule of STMH where the target is no mixture of Gaussians, and on the reals for
                a ladder that is left to pilot rounds or ends at 0, where the hot distribution is improper.
        """
        self.base.check(target)
        check_step_sizes(self.base, self.step_sizes, target)
        ladder = self.given["ladder"]
        if ladder in LADDERS or self.given["step_size"] == STMH:
            mixture_of(target)
        if isinstance(target.space, Real) and (ladder == AUTO or ladder[-1] == 0):
            raise ValueError(
                "ladder must end above 0 on the reals: 'coarse', 'fine' or a list of numbers, "
                f"{ladder!r} was given"
            )

    def kernel_at(self, hyperparameters: Mapping[str, Any]) -> SimulatedTempering:
        ladder, log_partition = hyperparameters["ladder"], hyperparameters["log_partition"]
        return SimulatedTempering(self.base, ladder, log_partition, self.rate, hyperparameters["step_size"])

    def tuning(self, target: Target, run: PilotRun[TuningResult]) -> Steps[TuningResult]:
        self.check(target)
        report: dict[str, Any] = {}
        evaluations, numbers, near = 0, dict(self.given), None
        ladder, step_size = self.given["ladder"], self.given["step_size"]
        run.planned = planned_steps(run, [name for name in self.open if self.given[name] == AUTO])
        if ladder in LADDERS:
            mixture = mixture_of(target)
            numbers["ladder"] = betas = stmh_ladder(mixture, ladder)
            report |= {"stmh_distance": mixture.distance, "stmh_radius": radius(mixture, len(betas))}
        elif ladder == AUTO:
            # The number of replicas that suits swaps is no worse for single chains: both need overlap.
            tuned = yield from tune_ladder(run, self.base, self.wanted)
            numbers["ladder"], evaluations, near = tuned.betas.tolist(), tuned.evaluations, tuned.near
            report |= tuned.report()
        betas, sizes = numbers["ladder"], self.step_sizes
        if step_size == STMH:
            sizes = torch.full((len(betas),), radius(mixture_of(target), len(betas)), dtype=torch.float64)
        elif "step_size" in self.open:
            levels = torch.tensor(betas, dtype=torch.float64)
            sizes, spent, short = yield from tune_rungs(run, self.base, levels, self.acceptance, near)
            evaluations, report = evaluations + spent, joined(report, short)
        numbers["step_size"] = None if sizes is None else sizes.tolist()
        if "log_partition" in self.open:
            chain = self._chain(betas, numbers["step_size"]).to(target.like())
            estimates = yield from PARTITIONS[self.partition](run, chain, self.pilot or PartitionPilot())
            numbers["log_partition"] = estimates.log_partition
            report = joined(report, estimates.report() | uneven_weights(estimates))
            evaluations += estimates.evaluations
        return TuningResult(numbers, evaluations, report)

    def _chain(self, betas: list[float], step_size: Any) -> SimulatedTempering:
        """With partition functions that are still to be found."""
        return SimulatedTempering(self.base, betas, [0.0] * len(betas), self.rate, step_size)


def uneven_weights(estimates: PartitionFunctions) -> dict[str, Any]:
    """A warning where log Z of a level rests on too few effective draws; empty where it does not."""
    fewest = min(estimates.effective[:-1], default=math.inf)
    if fewest >= CREDIBLE:
        return {}
    sentence = (
        f"log Z of a level rests on no more than {fewest:.0f} independent draws and may be off by nats; "
        "give a longer ladder, whose levels are nearer to each other, or a larger tuning.effort"
    )
    return {WARNINGS: [sentence]}
