"""Simulated tempering from a configuration: levels of numbers, or the tuning of what is open in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from samplers.continuous.gaussian_random_walk import GaussianWalk
from samplers.hyperparameters import AUTO, count, one_of, within
from samplers.kernel import Kernel
from samplers.kernel_family import takes_step_size
from samplers.tempering.ladder import check_ladder
from samplers.tempering.simulated.partition_functions import PartitionPilot
from samplers.tempering.simulated.simulated_tempering import (
    SimulatedTempering,
    check_log_partition,
    check_rate,
    level_step_sizes,
)
from samplers.tempering.simulated.stmh_ladder import LADDERS
from samplers.tuning.inner import inner_kernel
from samplers.tuning.level_search import PARTITIONS, STMH, check_open, tune_ladder_of, tune_step_sizes_of
from samplers.tuning.tunable import Tunable, TuningResult
from targets.randomness import Generator
from targets.target import Target


class LevelTuning(Tunable):
    """`SimulatedTempering` with an open ladder, step sizes or log Z_i, which are found in this order.

    Args:
        kernel: what is tempered.
        ladder: numbers, ``"auto"``, ``"coarse"`` or ``"fine"``.
        step_size: numbers, ``"auto"``, ``"stmh"``, or None for a kernel that has none or its own.
        log_partition: numbers or ``"auto"``.
        rate: probability of a move between levels.
        partition: how log Z_i is estimated.
        pilot: size of the pilot that estimates it.
        limit: largest number of levels of an automatic ladder.
        acceptance: what step sizes are tuned to.
    """

    def __init__(
        self,
        kernel: Kernel,
        ladder: Any,
        step_size: Any,
        log_partition: Any,
        *,
        rate: float,
        partition: str,
        pilot: PartitionPilot,
        limit: int,
        acceptance: float,
    ) -> None:
        self.base, self.ladder, self.step_size, self.rate = kernel, ladder, step_size, rate
        self.partition, self.pilot, self.limit, self.acceptance = partition, pilot, limit, acceptance
        self.betas = None if isinstance(ladder, str) else check_ladder(ladder)
        levels = None if self.betas is None else len(self.betas)
        self.step_sizes: Tensor | None = None
        if not isinstance(step_size, str):
            self.step_sizes = level_step_sizes(step_size, kernel, levels)
        self.log_partition = None if log_partition == AUTO else check_log_partition(log_partition, levels)
        is_open = {
            "ladder": self.betas is None,
            "step_size": isinstance(step_size, str),
            "log_partition": self.log_partition is None,
        }
        self.open = tuple(name for name, missing in is_open.items() if missing)
        betas = torch.tensor([1.0, 0.5]) if self.betas is None else self.betas
        self.example: SimulatedTempering = self._chain(betas, torch.zeros_like(betas), None)

    def check(self, target: Target) -> None:
        self.base.check(target)
        check_open(target, self.ladder, self.step_size)

    def tune(self, target: Target, generator: Generator) -> TuningResult:
        self.check(target)
        report: dict[str, Any] = {}
        evaluations = 0
        betas, sizes, values = self.betas, self.step_sizes, self.log_partition
        if betas is None:
            betas, found, evaluations = tune_ladder_of(
                self.base, target, self.ladder, generator, self.limit, self.acceptance, sizes
            )
            report.update(found)
        if "step_size" in self.open:
            sizes, spent = tune_step_sizes_of(
                self.base, target, self.step_size, betas, generator, self.acceptance
            )
            evaluations += spent
        if values is None:
            chain = self._chain(betas, torch.zeros_like(betas), sizes).to(target.like())
            estimates = PARTITIONS[self.partition](chain, target, self.pilot, generator)
            values = torch.tensor(estimates.log_partition, dtype=torch.float64)
            report.update(estimates.report())
            evaluations += estimates.evaluations
        numbers = {
            "ladder": betas.tolist(),
            "step_size": None if sizes is None else sizes.tolist(),
            "log_partition": values.tolist(),
        }
        return TuningResult(numbers, evaluations, report)

    def kernel(self, hyperparameters: Mapping[str, Any]) -> SimulatedTempering:
        return SimulatedTempering(
            self.base,
            hyperparameters["ladder"],
            hyperparameters["log_partition"],
            self.rate,
            hyperparameters["step_size"],
        )

    def _chain(self, betas: Tensor, log_partition: Tensor, sizes: Tensor | None) -> SimulatedTempering:
        step_size = None if sizes is None else sizes.tolist()
        return SimulatedTempering(self.base, betas.tolist(), log_partition.tolist(), self.rate, step_size)


def simulated_tempering(
    kernel: Kernel | Tunable,
    ladder: Sequence[float] | str = AUTO,
    rate: float = 0.5,
    log_partition: Sequence[float] | str = AUTO,
    partition: str = "inductive",
    step_size: float | Sequence[float] | str | None = None,
    max_levels: int = 32,
    acceptance: float = Kernel.optimal_acceptance,
    pilot: PartitionPilot | None = None,
) -> Kernel | Tunable:
    """`SimulatedTempering` with its numbers, or its tuning.

    Args:
        kernel: what is tempered.
        ladder: inverse temperatures, decreasing from 1; ``"auto"``: tuned to equal rejection between
            neighbours, as for parallel tempering (discrete spaces only); ``"coarse"`` or ``"fine"``:
            STMH's for a Gaussian mixture (`samplers.tempering.simulated.stmh_ladder`).
        rate: lambda, the probability of a move between levels.
        log_partition: log Z_i of each level, from the cold one, or ``"auto"``: estimated in a pilot.
        partition: how: ``"inductive"`` (STMH, Algorithm 2) or ``"wang_landau"``.
        step_size: one for all levels, one per level of a given ladder, ``"auto"`` (each level tuned to
            `acceptance`), ``"stmh"`` (R of Eqs. C.23 and C.27 at every level; Gaussian mixtures), or None
            for kernels that have none or have their own.
        max_levels: upper limit of the length of an ``"auto"`` ladder.
        acceptance: what step sizes are tuned to.
        pilot: size of the pilot that estimates the log Z_i.
    """
    base = inner_kernel(kernel)
    given: Any = AUTO if step_size is None and isinstance(kernel, Tunable) else step_size
    open_ended = isinstance(ladder, str) and ladder in (AUTO, *LADDERS)
    rung_ladder: Any = ladder
    if not open_ended:
        check_ladder(ladder)
        rung_ladder = list(ladder)
    if isinstance(given, str) and takes_step_size(type(base)):
        one_of("step_size", given, (AUTO, STMH) if isinstance(base, GaussianWalk) else (AUTO,))
    elif isinstance(given, str):
        level_step_sizes(given, base, None)  # type: ignore[arg-type]
    tuning = LevelTuning(
        base,
        rung_ladder,
        given,
        log_partition,
        rate=check_rate(rate),
        partition=one_of("partition", partition, PARTITIONS),
        pilot=pilot or PartitionPilot(),
        limit=count("max_levels", max_levels, 2),
        acceptance=within("acceptance", acceptance, 0.01, 0.99),
    )
    if tuning.open:
        return tuning
    numbers = {"ladder": rung_ladder, "step_size": given, "log_partition": log_partition}
    return tuning.kernel(numbers)
