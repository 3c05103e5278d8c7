"""Parallel tempering from a configuration: a ladder of numbers, or the tuning of what is open in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from samplers.hyperparameters import AUTO, count, one_of, within
from samplers.kernel import Kernel
from samplers.kernel_family import family_of, takes_step_size
from samplers.tempering.ladder import check_ladder
from samplers.tempering.parallel_tempering import ParallelTempering, check_rule, rung_step_sizes
from samplers.tempering.replica_count import FORMULAS
from samplers.tempering.swaps.swap_round import Swaps
from samplers.tuning.inner import inner_kernel
from samplers.tuning.ladder_rounds import tune_ladder
from samplers.tuning.step_size import Pilot, tune_step_size
from samplers.tuning.tunable import Tunable, TuningResult
from targets.randomness import Generator
from targets.target import Target

PER_RUNG = Pilot(candidates=25, chains=16, steps=300)


class LadderTuning(Tunable):
    """`ParallelTempering` with an open ladder or step sizes: Algorithm 3, then the step size of each rung.

    Args:
        kernel: what is tempered.
        betas: the ladder ``(K,)``; None where it is open.
        step_size: one for all rungs, one per rung, or None where the kernel has none; ``"auto"`` where open.
        swap: of the tempered kernel.
        replicas: K, or None where it follows from the communication barrier by `formula`, at most `limit`.
        acceptance: what step sizes are tuned to.
    """

    def __init__(
        self,
        kernel: Kernel,
        betas: Tensor | None,
        step_size: Any,
        swap: Swaps | None,
        replicas: int | None,
        *,
        formula: str,
        limit: int,
        acceptance: float,
    ) -> None:
        self.base, self.betas, self.step_size, self.swap = kernel, betas, step_size, swap
        self.replicas, self.formula, self.limit, self.acceptance = replicas, formula, limit, acceptance
        rungs = replicas if betas is None else len(betas)
        self.step_sizes = None if step_size == AUTO else rung_step_sizes(kernel, step_size, rungs)
        names = {"ladder": betas is None, "step_size": step_size == AUTO}
        self.open = tuple(name for name, missing in names.items() if missing)
        self.example: ParallelTempering = ParallelTempering(
            kernel, [1.0, 0.5] if betas is None else betas.tolist(), swap=swap
        )

    def tune(self, target: Target, generator: Generator) -> TuningResult:
        self.example.swaps.rule.check(target)
        evaluations, report = 0, {}
        betas, step_size = self.betas, self.step_size
        if betas is None:
            tuned = tune_ladder(
                self.base,
                target,
                generator,
                replicas=self.replicas,
                formula=self.formula,
                limit=self.limit,
                step_size=self.step_sizes,
                acceptance=self.acceptance,
            )
            betas, evaluations, report = tuned.betas, tuned.evaluations, tuned.report()
        if "step_size" in self.open:
            sizes, _, spent = tune_step_size(
                family_of(self.base), target, betas, generator, wanted=self.acceptance, pilot=PER_RUNG
            )
            step_size, evaluations = sizes.tolist(), evaluations + spent * len(betas)
        return TuningResult({"ladder": betas.tolist(), "step_size": step_size}, evaluations, report)

    def kernel(self, hyperparameters: Mapping[str, Any]) -> Kernel:
        return ParallelTempering(
            self.base, hyperparameters["ladder"], hyperparameters["step_size"], self.swap
        )


def parallel_tempering(
    kernel: Kernel | Tunable,
    ladder: Sequence[float] | str = AUTO,
    replicas: int | str = AUTO,
    step_size: float | Sequence[float] | str | None = None,
    swap: Swaps | None = None,
    replicas_formula: str = "constrained",
    max_replicas: int = 32,
    acceptance: float = Kernel.optimal_acceptance,
) -> Kernel | Tunable:
    """`ParallelTempering` with its numbers, or its tuning.

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
    """
    formula = one_of("replicas_formula", replicas_formula, FORMULAS)
    limit = count("max_replicas", max_replicas, 2)
    wanted = within("acceptance", acceptance, 0.01, 0.99)
    betas = None if ladder == AUTO else check_ladder(ladder)
    number = None if replicas == AUTO else count("replicas", replicas, 2)
    if betas is not None and number not in (None, len(betas)):
        raise ValueError(f"replicas={number} does not fit the ladder given, which has {len(betas)} rungs")
    base, choice = inner_kernel(kernel), swap or Swaps()
    check_rule(base, choice)
    given: Any = AUTO if step_size is None and isinstance(kernel, Tunable) else step_size
    if isinstance(given, Sequence) and not isinstance(given, str):
        given = list(given)
    if given == AUTO and not takes_step_size(type(base)):
        rung_step_sizes(base, given, None)
    if betas is not None and given != AUTO:
        return ParallelTempering(base, betas.tolist(), given, choice)
    return LadderTuning(base, betas, given, choice, number, formula=formula, limit=limit, acceptance=wanted)
