"""Parallel tempering around any kernel: the ladder is a batch axis, a swap is a permutation of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import AUTO, count, one_of, positive, within
from samplers.kernel import Info, Kernel, State
from samplers.metropolis_hastings import Unadjusted, jump_length
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.proposals.entropic_langevin import THETA_A
from samplers.tempering.ladder import check_ladder, tune_ladder
from samplers.tempering.replica_count import FORMULAS
from samplers.tempering.swaps.swap_round import Swaps
from samplers.tuning.step_size import OPTIMAL_ACCEPTANCE, Pilot, Steppable, tune_step_size
from targets.randomness import Generator
from targets.target import Target

PER_RUNG = Pilot(candidates=25, chains=16, steps=300)
REPLICA, TURN, MEMORY = "tempering.replica", "tempering.turn", "tempering.memory"


class ParallelTempering(Kernel):
    """K replicas of `kernel` at inverse temperatures 1 = beta_1 > .. > beta_K >= 0, and swaps between them.

    PT-DLP v2, Algorithm 1. One batched step moves all replicas of all chains; then neighbours swap. The
    draws are those of the cold replica. With an exact kernel and Metropolis swaps the product of the
    tempered targets is left invariant.

    Args:
        kernel: any kernel; PT-DMALA is this around DMALA.
        ladder: the inverse temperatures, decreasing from 1, or ``"auto"``: tuned by pilot rounds to equal
            rejection between neighbours (Algorithm 3, `samplers.tempering.ladder`).
        replicas: K, or ``"auto"``: from the communication barrier by `replicas_formula`; with a ladder
            given, its length.
        step_size: one for all rungs, one per rung of a given ladder or a given number of replicas,
            ``"auto"`` (each rung tuned to `acceptance` in a pilot), or None for kernels that have none.
        swap: rule, pairing and intensity (`samplers.tempering.swaps.swap_round.Swaps`).
        replicas_formula: constrained (default), v1 or v2 (`samplers.tempering.replica_count`).
        max_replicas: upper limit of an automatic K.
        acceptance: what step sizes are tuned to.
    """

    def __init__(
        self,
        kernel: Kernel,
        ladder: Sequence[float] | str = AUTO,
        replicas: int | str = AUTO,
        step_size: float | Sequence[float] | str | None = None,
        swap: Swaps | None = None,
        replicas_formula: str = "constrained",
        max_replicas: int = 32,
        acceptance: float = OPTIMAL_ACCEPTANCE,
    ) -> None:
        self.formula = one_of("replicas_formula", replicas_formula, FORMULAS)
        self.max_replicas = count("max_replicas", max_replicas, 2)
        self.acceptance = within("acceptance", acceptance, 0.01, 0.99)
        self.base = kernel
        self.swaps = swap or Swaps()
        self.betas = None if ladder == AUTO else check_ladder(ladder)
        self.replicas = None if replicas == AUTO else count("replicas", replicas, 2)
        if self.betas is not None and self.replicas not in (None, len(self.betas)):
            raise ValueError(
                f"replicas={self.replicas} does not fit the ladder given, which has {len(self.betas)} rungs"
            )
        self.step_size_given = step_size
        self.step_sizes = self._check_step_sizes(step_size)
        self.exact = kernel.exact and self.swaps.exact
        if self.swaps.rule.needs_step_size and not _has_langevin_flow(kernel):
            raise ValueError(
                "swap.rule=history_exact holds for unadjusted Langevin moves (balancing=0.5, norm=2) only, "
                f"other moves ({type(kernel).__name__}) were given"
            )
        self.kernel = kernel
        if not self.untuned and self.betas is not None:
            self.betas = self.betas.reshape(-1, 1, 1)
            self.axes = (len(self.betas),)
            if self.step_sizes is not None and isinstance(kernel, Steppable):
                self.step_sizes = self.step_sizes.expand(len(self.betas)).reshape(-1, 1, 1)
                self.kernel = kernel.with_step_size(self.step_sizes)

    def _check_step_sizes(self, step_size: float | Sequence[float] | str | None) -> Tensor | None:
        if not isinstance(self.base, Steppable):
            if step_size is not None:
                raise ValueError(
                    f"step_size must be null around {type(self.base).__name__}, which has none, "
                    f"{step_size!r} was given"
                )
            return None
        if step_size is None or step_size == AUTO:
            return None
        if not isinstance(step_size, Sequence) or isinstance(step_size, str):
            return positive("step_size", step_size, auto=True)
        sizes = [s for s in (positive("step_size", v) for v in step_size) if s is not None]
        rungs = self.replicas if self.betas is None else len(self.betas)
        if len(sizes) != rungs:
            raise ValueError(
                f"step_size must be one number, 'auto', or one number for each rung of a given ladder or a "
                f"given number of replicas, {list(step_size)!r} was given"
            )
        return torch.stack(sizes)

    @property
    def untuned(self) -> tuple[str, ...]:
        ladder = () if self.betas is not None else ("ladder",)
        tunable = isinstance(self.base, Steppable) and self.step_sizes is None
        return (*ladder, *(("step_size",) if tunable else ()))

    def tune(self, target: Target, generator: Generator) -> dict[str, Any]:
        """The ladder by Algorithm 3, then the step size of each rung; nothing of it is recorded."""
        self.swaps.rule.check(target)
        evaluations, report = 0, {}
        betas = None if self.betas is None else self.betas.double().flatten()
        if betas is None:
            tuned = tune_ladder(
                self.base,
                target,
                generator,
                replicas=self.replicas,
                formula=self.formula,
                limit=self.max_replicas,
                step_size=self.step_sizes,
                acceptance=self.acceptance,
            )
            betas, evaluations = tuned.betas, tuned.evaluations
            report = tuned.report()
        given = self.step_size_given
        step_sizes: Any = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else given
        if "step_size" in self.untuned and isinstance(self.base, Steppable):
            sizes, _, spent = tune_step_size(
                self.base, target, betas, generator, wanted=self.acceptance, pilot=PER_RUNG
            )
            step_sizes, evaluations = sizes.tolist(), evaluations + spent * len(betas)
        return {
            "ladder": betas.tolist(),
            "step_size": step_sizes,
            "evaluations": evaluations,
            "report": report,
        }

    def tuned(self, hyperparameters: Mapping[str, Any]) -> ParallelTempering:
        return ParallelTempering(
            self.base,
            ladder=hyperparameters["ladder"],
            step_size=hyperparameters["step_size"],
            swap=self.swaps,
            replicas_formula=self.formula,
            max_replicas=self.max_replicas,
            acceptance=self.acceptance,
        )

    @property
    def carried(self) -> tuple[str, ...]:
        return self.base.carried

    @property
    def needs_gradient(self) -> bool:
        return self.base.needs_gradient

    def check(self, target: Target) -> None:
        self.base.check(target)
        self.swaps.rule.check(target)

    def prepared(self, target: Target, beta: Tensor) -> ParallelTempering:
        prepared = copy.copy(self)
        prepared.kernel = self.kernel.prepared(target, beta * self._ladder())
        return prepared

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.swaps.rule.check(target)
        local = self.kernel.init(target, theta, beta * self._ladder())
        rungs = torch.arange(local.log_prob.shape[0], device=theta.device)
        replica = rungs.reshape(-1, *(1,) * (local.log_prob.dim() - 1)).expand(local.log_prob.shape)
        turn = torch.zeros((), dtype=torch.int64, device=theta.device)
        return _with_aux(local, replica.clone(), turn, local.log_prob)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        betas = beta * self._ladder()
        before = replace(state, aux={k: v for k, v in state.aux.items() if not k.startswith("tempering.")})
        moved, local = self.kernel.step(target, before, betas, generator)
        after, swap, memory = self.swaps.round(
            target,
            before,
            moved,
            betas,
            self.step_sizes,
            state.aux[TURN],
            state.aux[REPLICA],
            state.aux[MEMORY],
            generator,
        )
        info = Info(
            acceptance=local.acceptance[0],
            jump=jump_length(target.space, state.theta[0], after.theta[0]),
            evaluations=(local.evaluations + self.swaps.rule.evaluations) * betas.shape[0],
            swap=swap,
            theta_a=after.aux[THETA_A][0] if THETA_A in after.aux else None,
        )
        if not self.swaps.rule.remembers:
            memory = after.log_prob
        return _with_aux(after, swap.replica, state.aux[TURN] + 1, memory), info

    def draws(self, state: State) -> Tensor:
        return state.theta[0]

    def _ladder(self) -> Tensor:
        if self.betas is None:
            raise ValueError("the ladder is not tuned yet: call tune() and tuned() first")
        return self.betas


def _has_langevin_flow(kernel: Kernel) -> bool:
    """Whether the flow of `kernel` is the one that `swap_rules.HistoryExact` writes down."""
    if not isinstance(kernel, Unadjusted) or not isinstance(kernel.proposal, LangevinProposal):
        return False
    return bool(kernel.proposal.norm == 2.0 and kernel.proposal.balancing == 0.5)


def _with_aux(state: State, replica: Tensor, turn: Tensor, memory: Tensor) -> State:
    return replace(state, aux={**state.aux, REPLICA: replica, TURN: turn, MEMORY: memory})
