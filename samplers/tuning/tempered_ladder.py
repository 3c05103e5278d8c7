"""Parallel tempering from a configuration: a ladder of numbers, or the tuning of what is open in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from samplers.hyperparameters import (
    AUTO,
    check_replicas,
    decreasing_ladder,
    hottest_rung,
    is_word,
    wanted_acceptance,
)
from samplers.kernel import Kernel
from samplers.kernel_family import check_step_sizes, require_family, rung_step_sizes
from samplers.pilot_run import PilotRun, Steps
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.replica_count import FORMULAS
from samplers.tempering.swaps.swap_round import Swaps
from samplers.tuning.pilots.ladder_rounds import LadderPilot, LadderWanted, tune_ladder
from samplers.tuning.pilots.shortfall import joined
from samplers.tuning.pilots.sought_step_sizes import PER_RUNG
from samplers.tuning.pilots.step_size import tune_rungs
from samplers.tuning.tunable import Settings, Tunable, TuningResult, inner_kernel, wrapper_step_size
from targets.checks import one_of, whole_number
from targets.spaces import Real
from targets.target import Target


@dataclass(eq=False)
class LadderSettings(Settings):
    """`ParallelTempering` and its tuning: Algorithm 3 for the ladder, then the step size of each rung.

    Args:
        kernel: what is tempered.
        ladder: the inverse temperatures, or ``"auto"``: equal rejection between neighbours (Algorithm 3).
        replicas: K, or ``"auto"``: from the communication barrier by `replicas_formula`; with a ladder
            given, its length.
        step_size: one for all rungs, one per rung of a given ladder or a given number of replicas, ``"auto"``
            (each rung tuned to `acceptance`), or None for a kernel that has none or its own.
        swap: rule, pairing and intensity.
        replicas_formula: constrained (default), v1 or v2 (`samplers.tempering.replica_count`).
        max_replicas: upper limit of an automatic K.
        acceptance: what step sizes are tuned to.
        hottest: inverse temperature at which an automatic ladder ends; above 0 on the reals.
    """

    kernel: Kernel | Tunable
    ladder: Sequence[float] | str = AUTO
    replicas: int | str = AUTO
    step_size: float | Sequence[float] | str | None = None
    swap: Swaps | None = None
    replicas_formula: str = "constrained"
    max_replicas: int = 32
    acceptance: float = Kernel.optimal_acceptance
    hottest: float = 0.0

    def __post_init__(self) -> None:
        betas = None if is_word(self.ladder, AUTO) else decreasing_ladder(self.ladder)
        number = None if self.replicas == AUTO else whole_number("replicas", self.replicas, 2)
        check_replicas(self.replicas, self.ladder)
        self.base = inner_kernel(self.kernel)
        step_size = wrapper_step_size(self.kernel, self.step_size)
        rungs = len(betas) if betas else number
        self.step_sizes = rung_step_sizes(self.base, step_size, rungs, words=(AUTO,))
        self.wanted = LadderWanted(
            replicas=number,
            formula=one_of("replicas_formula", self.replicas_formula, FORMULAS),
            limit=whole_number("max_replicas", self.max_replicas, 2),
            step_size=self.step_sizes,
            acceptance=wanted_acceptance(self.acceptance),
            hottest=hottest_rung(self.hottest, self.ladder),
        )
        example = ParallelTempering(self.base, betas or [1.0, self.wanted.hottest], swap=self.swap)
        self.keep(example, ladder=betas or AUTO, step_size=step_size)
        if self.open:
            require_family(self.base)

    def check(self, target: Target) -> None:
        """Refuses what cannot be found on `target`; costs nothing.

        Raises:
            ValueError: if the kernel or the swap rule does not serve it, and on the reals for a ladder that
                ends at 0, where the hot distribution is improper.
        """
        self.base.check(target)
        check_step_sizes(self.base, self.step_sizes, target)
        if isinstance(target.space, Real) and self.given["ladder"] == AUTO and self.wanted.hottest == 0:
            raise ValueError(
                f"hottest must be above 0 on the reals, such as 0.01, {self.hottest!r} was given"
            )
        self.example.check(target)

    def kernel_at(self, hyperparameters: Mapping[str, Any]) -> ParallelTempering:
        ladder, step_size = hyperparameters["ladder"], hyperparameters["step_size"]
        return ParallelTempering(self.base, ladder, step_size, self.swap)

    def tuning(self, target: Target, run: PilotRun[TuningResult]) -> Steps[TuningResult]:
        self.check(target)
        numbers, evaluations, report, near = dict(self.given), 0, {}, None
        run.planned = planned_steps(run, self.open)
        if "ladder" in self.open:
            tuned = yield from tune_ladder(run, self.base, self.wanted)
            numbers["ladder"], evaluations, near = tuned.betas.tolist(), tuned.evaluations, tuned.near
            # To 0 the pilot has ten rungs whatever the number of replicas.
            more = "more replicas" if self.wanted.hottest > 0 else "more replicas with hottest above 0"
            report = tuned.report(f"a longer ladder, or {more}")
        if "step_size" in self.open:
            betas = torch.tensor(numbers["ladder"], dtype=torch.float64)
            sizes, spent, short = yield from tune_rungs(run, self.base, betas, self.acceptance, near)
            numbers["step_size"], evaluations = sizes.tolist(), evaluations + spent
            report = joined(report, short)
        return TuningResult(numbers, evaluations, report)


def planned_steps(run: PilotRun[Any], unknown: Sequence[str]) -> int:
    """Steps of the pilots of a ladder and of its step sizes, those of them that are open."""
    first, closer = PER_RUNG.sizes(run)
    ladder = LadderPilot().planned(run) if "ladder" in unknown else first
    return ladder + (closer if "step_size" in unknown else 0)
