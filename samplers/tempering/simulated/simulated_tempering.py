"""Simulated tempering around any kernel: one chain that moves between temperatures as well as in space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import AUTO, count, is_number, one_of, within
from samplers.kernel import Info, Kernel, State
from samplers.tempering.ladder import check_ladder
from samplers.tempering.simulated.given_levels import given_log_partition, given_step_sizes
from samplers.tempering.simulated.level_tuning import (
    PARTITIONS,
    STMH,
    check_open,
    tune_ladder_of,
    tune_step_sizes_of,
)
from samplers.tempering.simulated.partition_functions import PartitionPilot
from samplers.tempering.simulated.stmh_ladder import LADDERS
from samplers.tempering.simulated.tempered_chain import TemperedChain
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE
from targets.randomness import Generator
from targets.target import Target


class SimulatedTempering(Kernel):
    """A chain on (level, theta) with the joint law p(i, theta) ~ exp(beta_i U(theta)) / Z_i, Z_i as given.

    STMH, Algorithm 1. With probability `rate` a step proposes the level above or below, one half each; it
    is accepted with probability min(1, exp((beta_j - beta_i) U(theta)) Z_i / Z_j), and stays at the ends.
    Otherwise it is a step of `kernel` at beta_i. Chains start at the hot level.

    Levels are counted as in every ladder of the house: level i here is level L - i of the paper, which
    counts from the hot end, from 1. Whatever the Z_i are, the states at level 0 have the law of the
    target; with wrong ones the levels are visited unevenly. The states at other levels are no draws:
    `levelled` says so, `Info.level` where each chain is, and metrics that cannot heed it are refused.

    Both kinds of move are computed for all chains and one is taken, so that nothing waits for the host;
    the kernel's evaluations are spent in every step. `Info.acceptance` is that of the kernel's move.

    Args:
        kernel: any kernel; STMH is this around the random walk.
        ladder: inverse temperatures, decreasing from 1; ``"auto"``: tuned to equal rejection between
            neighbours, as for parallel tempering (discrete spaces only); ``"coarse"`` or ``"fine"``:
            STMH's for a Gaussian mixture (`samplers.tempering.simulated.stmh_ladder`).
        rate: lambda, the probability of a move between levels.
        log_partition: log Z_i of each level, from the cold one, or ``"auto"``: estimated in a pilot. Only
            differences between them matter.
        partition: how: ``"inductive"`` (STMH, Algorithm 2) or ``"wang_landau"``
            (`samplers.tempering.simulated.stochastic_approximation`).
        step_size: one for all levels, one per level of a given ladder, ``"auto"`` (each level tuned to
            `acceptance`), ``"stmh"`` (R of Eqs. C.23 and C.27 at every level; Gaussian mixtures), or None
            for kernels that have none or have their own.
        max_levels: upper limit of the length of an ``"auto"`` ladder.
        acceptance: what step sizes are tuned to.
        pilot: size of the pilot that estimates the log Z_i.
    """

    levelled = True

    def __init__(
        self,
        kernel: Kernel,
        ladder: Sequence[float] | str = AUTO,
        rate: float = 0.5,
        log_partition: Sequence[float] | str = AUTO,
        partition: str = "inductive",
        step_size: float | Sequence[float] | str | None = None,
        max_levels: int = 32,
        acceptance: float = OPTIMAL_ACCEPTANCE,
        pilot: PartitionPilot | None = None,
    ) -> None:
        if not is_number(rate) or not 0 < rate < 1:
            raise ValueError(f"rate must be a number between 0 and 1, both excluded, {rate!r} was given")
        self.rate = float(rate)
        self.partition = one_of("partition", partition, PARTITIONS)
        self.max_levels = count("max_levels", max_levels, 2)
        self.acceptance = within("acceptance", acceptance, 0.01, 0.99)
        self.pilot = pilot or PartitionPilot()
        self.base = kernel
        self.exact = kernel.exact
        self.ladder_given, self.step_size_given = ladder, step_size
        open_ended = isinstance(ladder, str) and ladder in (AUTO, *LADDERS)
        self.betas = None if open_ended else check_ladder(ladder)
        self.step_sizes = given_step_sizes(step_size, kernel, self.betas)
        self.log_partition = given_log_partition(log_partition, self.betas)
        self.chain: TemperedChain | None = None
        if self.betas is not None and self.log_partition is not None and not self.untuned:
            self.chain = self._chain(self.betas, self.log_partition, self.step_sizes)

    @property
    def untuned(self) -> tuple[str, ...]:
        opens_step = self.step_size_given in (AUTO, STMH) or (
            self.step_size_given is None and bool(self.base.untuned)
        )
        is_open = {
            "ladder": self.betas is None,
            "step_size": opens_step,
            "log_partition": self.log_partition is None,
        }
        return tuple(name for name, missing in is_open.items() if missing)

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        """The ladder, then the step sizes, then the log Z_i; nothing of it is recorded."""
        self.check(target)
        report: dict[str, Any] = {}
        evaluations = 0
        betas, sizes, values = self.betas, self.step_sizes, self.log_partition
        if betas is None:
            betas, found, evaluations = tune_ladder_of(
                self.base, target, str(self.ladder_given), generator, self.max_levels, self.acceptance, sizes
            )
            report.update(found)
        if "step_size" in self.untuned:
            rule = STMH if self.step_size_given == STMH else AUTO
            sizes, spent = tune_step_sizes_of(self.base, target, rule, betas, generator, self.acceptance)
            evaluations += spent
        if values is None:
            chain = self._chain(betas, torch.zeros_like(betas), sizes).to(target.like())
            estimates = PARTITIONS[self.partition](chain, target, self.pilot, generator)
            values = torch.tensor(estimates.log_partition, dtype=torch.float64)
            report.update(estimates.report())
            evaluations += estimates.evaluations
        return {
            "ladder": betas.tolist(),
            "step_size": None if sizes is None else sizes.tolist(),
            "log_partition": values.tolist(),
            "evaluations": evaluations,
            "report": report,
        }

    def tuned(self, hyperparameters: Mapping[str, Any]) -> SimulatedTempering:
        return SimulatedTempering(
            self.base,
            ladder=hyperparameters["ladder"],
            rate=self.rate,
            log_partition=hyperparameters["log_partition"],
            partition=self.partition,
            step_size=hyperparameters["step_size"],
            max_levels=self.max_levels,
            acceptance=self.acceptance,
            pilot=self.pilot,
        )

    @property
    def levels(self) -> int:
        """Number of levels L; 2, the fewest, as long as the ladder is not tuned."""
        return 2 if self.betas is None else len(self.betas)

    @property
    def carried(self) -> tuple[str, ...]:
        return self.base.carried

    @property
    def needs_gradient(self) -> bool:
        return self.base.needs_gradient

    def check(self, target: Target) -> None:
        self.base.check(target)
        check_open(target, self.ladder_given, self.step_size_given)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        return self._tuned().init(target, theta, beta)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        return self._tuned().step(target, state, beta, generator)

    def _chain(self, betas: Tensor, log_partition: Tensor, step_sizes: Tensor | None) -> TemperedChain:
        sizes = None if step_sizes is None else step_sizes.expand(len(betas))
        return TemperedChain(self.base, betas, log_partition, self.rate, sizes)

    def _tuned(self) -> TemperedChain:
        if self.chain is None:
            raise ValueError("simulated tempering is not tuned yet: call tune() and tuned() first")
        return self.chain
