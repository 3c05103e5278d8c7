"""Parallel tempering around any kernel: the ladder is a batch axis, a swap is a permutation of it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from samplers.hyperparameters import positive
from samplers.kernel import Info, Kernel, State, along_first
from samplers.kernel_family import family_of, takes_step_size
from samplers.metropolis_hastings import MetropolisHastings, jump_length
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.tempering.ladder import check_ladder
from samplers.tempering.swaps.swap_round import Swaps
from targets.randomness import Generator
from targets.target import Target

OWN = "tempering."
"""How the names of the auxiliaries begin that belong to tempering and not to the kernel inside."""

REPLICA, TURN, MEMORY = f"{OWN}replica", f"{OWN}turn", f"{OWN}memory"


class ParallelTempering(Kernel):
    """K replicas of `kernel` at inverse temperatures 1 = beta_1 > .. > beta_K >= 0, and swaps between them.

    PT-DLP v2, Algorithm 1. One batched step moves all replicas of all chains, whose batch axes come after
    that of the ladder, however many there are; then neighbours swap. The draws are those of the cold
    replica. With an exact kernel and Metropolis swaps the product of the tempered targets is left invariant.

    Args:
        kernel: any kernel; PT-DMALA is this around DMALA.
        ladder: the inverse temperatures, decreasing from 1 (`samplers.tuning.tempered_ladder` finds them).
        step_size: one number for all rungs, or one per rung; None for that of `kernel`, if it has one.
        swap: rule, pairing and intensity (`samplers.tempering.swaps.swap_round.Swaps`).

    Raises:
        ValueError: for a ladder, step sizes or a swap rule that do not fit.
    """

    tensor_step_size = False

    def __init__(
        self,
        kernel: Kernel,
        ladder: Sequence[float],
        step_size: float | Sequence[float] | None = None,
        swap: Swaps | None = None,
    ) -> None:
        self.betas = check_ladder(ladder, auto=False)
        self.base, self.swaps = kernel, swap or Swaps()
        self.step_sizes = rung_step_sizes(kernel, step_size, len(self.betas))
        if self.step_sizes is not None:
            self.step_sizes = self.step_sizes.expand(len(self.betas))
        self.family = None if self.step_sizes is None else family_of(kernel)
        self.tables: Kernel | None = None
        check_rule(kernel, self.swaps)
        self.exact = kernel.exact and self.swaps.exact
        self.axes = (len(self.betas),)

    @property
    def persistent_aux(self) -> tuple[str, ...]:
        return self.base.persistent_aux

    @property
    def needs_gradient(self) -> bool:
        return self.base.needs_gradient

    def rung(self, k: int) -> Kernel:
        """The kernel of rung k alone, 0 the cold one."""
        if self.family is None or self.step_sizes is None:
            return self.base
        return self.family(self.step_sizes[k])

    def check(self, target: Target) -> None:
        self.base.check(target)
        self.swaps.rule.check(target)

    def prepared(self, target: Target, beta: Tensor) -> ParallelTempering:
        local = self.base
        if self.family is not None and self.step_sizes is not None:
            local = self.family(self.step_sizes)
        faster = local.prepared(target, beta * self.betas)
        if faster is local:
            return self
        prepared = copy.copy(self)
        prepared.tables = faster
        return prepared

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.swaps.rule.check(target)
        betas, kernel = self._replicas(len(target.space.batch_shape(theta)))
        local = kernel.init(target, theta, beta * betas)
        rungs = torch.arange(local.log_prob.shape[0], device=theta.device)
        replica = along_first(rungs, local.log_prob.dim()).expand(local.log_prob.shape)
        turn = torch.zeros((), dtype=torch.int64, device=theta.device)
        return _with_aux(local, replica.clone(), turn, local.log_prob)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        ladder, kernel = self._replicas(state.log_prob.dim())
        betas = beta * ladder
        before = replace(state, aux={k: v for k, v in state.aux.items() if not k.startswith(OWN)})
        moved, local = kernel.step(target, before, betas, generator)
        after, swap, memory = self.swaps.round(
            target,
            before,
            moved,
            betas,
            None if self.step_sizes is None else along_first(self.step_sizes, state.log_prob.dim()),
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
            aux={name: after.aux[name][0] for name in local.aux},
        )
        if not self.swaps.rule.remembers:
            memory = after.log_prob
        return _with_aux(after, swap.replica, state.aux[TURN] + 1, memory), info

    def draws(self, state: State) -> Tensor:
        return state.theta[0]

    def _replicas(self, axes: int) -> tuple[Tensor, Kernel]:
        """The ladder and the kernel of all replicas, for states of so many batch axes."""
        betas = along_first(self.betas, axes)
        if self.tables is not None:
            return betas, self.tables
        if self.family is None or self.step_sizes is None:
            return betas, self.base
        return betas, self.family(along_first(self.step_sizes, axes))


def rung_step_sizes(kernel: Kernel, step_size: Any, rungs: int | None) -> Tensor | None:
    """One step size, a scalar, or one for each of `rungs`, float64; None where the kernel has none.

    Args:
        step_size: one number, one for each rung, or None for that of the kernel.
        rungs: None where their number is not known.

    Raises:
        ValueError: if it does not go with the kernel or the ladder.
    """
    if not takes_step_size(type(kernel)):
        if step_size is not None:
            raise ValueError(
                f"step_size must be null around {type(kernel).__name__}, which has none, "
                f"{step_size!r} was given"
            )
        return None
    if step_size is None:
        own = getattr(kernel, "step_size", None)
        return own if isinstance(own, Tensor) else None
    if isinstance(step_size, str) or not isinstance(step_size, Sequence):
        return positive("step_size", step_size, "a positive number or 'auto'")
    sizes = [positive("step_size", value) for value in step_size]
    if len(sizes) != rungs:
        raise ValueError(
            f"step_size must be one number, 'auto', or one number for each rung of a given ladder or a "
            f"given number of replicas, {list(step_size)!r} was given"
        )
    return torch.stack(sizes)


def check_rule(kernel: Kernel, swaps: Swaps) -> None:
    """Raises ValueError if the swap rule does not hold for the moves of `kernel`."""
    if swaps.rule.needs_step_size and not _has_langevin_flow(kernel):
        raise ValueError(
            "swap.rule=history_exact holds for unadjusted Langevin moves (balancing=0.5, norm=2) only, "
            f"other moves ({type(kernel).__name__}) were given"
        )


def _has_langevin_flow(kernel: Kernel) -> bool:
    """Whether the moves of `kernel` are those that `swap_rules.HistoryExact` holds for."""
    if not isinstance(kernel, MetropolisHastings) or kernel.adjusted:
        return False
    proposal = kernel.proposal
    if not isinstance(proposal, LangevinProposal):
        return False
    return bool(proposal.norm == 2.0 and proposal.balancing == 0.5)


def _with_aux(state: State, replica: Tensor, turn: Tensor, memory: Tensor) -> State:
    return replace(state, aux={**state.aux, REPLICA: replica, TURN: turn, MEMORY: memory})
