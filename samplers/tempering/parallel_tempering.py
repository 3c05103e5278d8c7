"""Parallel tempering around any kernel: the ladder is a batch axis, a swap is a permutation of it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from samplers.inverse_temperatures import along_first
from samplers.kernel import Info, Kernel, State
from samplers.kernel_family import RungKernels, rung_step_sizes
from samplers.metropolis_hastings import MetropolisHastings, jump_length
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.tempering.around_kernel import AroundKernel
from samplers.tempering.ladder import check_ladder, require_proper, require_replica_axis
from samplers.tempering.swaps.swap_round import OWN, SwapMemory, Swaps
from samplers.tempering.swaps.swap_rules import Rungs
from targets.checks import described
from targets.compiling.tracing import apart
from targets.randomness import Generator
from targets.target import Target
from targets.versions import changes


class ParallelTempering(AroundKernel):
    """K replicas of `kernel` at inverse temperatures 1 = beta_1 > .. > beta_K >= 0, and swaps between them.

    PT-DLP v2, Algorithm 1. One batched step moves all replicas of all chains, whose batch axes come after
    that of the ladder, however many there are; then neighbours swap. The draws are those of the cold
    replica. With an exact kernel and Metropolis swaps the product of the tempered targets is left invariant.

    Spaces: as the kernel.
    Cost: for each replica, as the kernel.
    Source: PT-DLP v2, Algorithm 1.

    Args:
        kernel: any kernel; PT-DMALA is this around DMALA.
        ladder: the inverse temperatures, decreasing from 1 (`samplers.tuning.tempered_ladder` finds them). On
            the reals they end above 0.
        step_size: one number for all rungs, or one per rung; None for that of `kernel`, if it has one.
        swap: rule, pairing and intensity (`samplers.tempering.swaps.swap_round.Swaps`).

    Raises:
        ValueError: for a ladder, step sizes or a swap rule that do not fit.
        TypeError: for a kernel that is none, or swaps that are no `Swaps`.
    """

    def __init__(
        self,
        kernel: Kernel,
        ladder: Sequence[float] | Tensor,
        step_size: float | Sequence[float] | None = None,
        swap: Swaps | None = None,
    ) -> None:
        super().__init__(kernel)
        self.betas = check_ladder(ladder, auto=False)
        sizes = rung_step_sizes(kernel, step_size, len(self.betas))
        self.swaps = _require_swaps(swap)
        self.rungs = RungKernels(kernel, None if sizes is None else sizes.expand(len(self.betas)))
        self.tables: Kernel | None = None
        self._tempered: _Tempered | None = None
        check_rule(kernel, self.swaps)
        self.exact = kernel.exact and self.swaps.exact
        self.axes = (len(self.betas),)

    @property
    def step_sizes(self) -> Tensor | None:
        """That of each rung ``(K,)``; None where the kernel has none."""
        return self.rungs.step_sizes

    def check(self, target: Target) -> None:
        super().check(target)
        require_proper(target, self.betas)
        self.swaps.rule.check(target)

    def prepared(self, target: Target, beta: Tensor) -> ParallelTempering:
        rungs = self.rungs.specialised(target)
        local = rungs.laid(1)
        faster = local.prepared(target, beta * self.betas)
        if faster is local and rungs is self.rungs:
            return self
        prepared = copy.copy(self)
        prepared.rungs = rungs
        prepared.tables = None if faster is local else faster
        return prepared

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        batch = target.space.batch_shape(theta)
        require_replica_axis("parallel tempering", theta, batch, len(self.betas))
        axes = len(batch)
        local = self._kernel(axes).init(target, theta, self._laid(beta, axes, target.like()).betas)
        return SwapMemory.start(local.log_prob).into(local)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        axes = state.log_prob.dim()
        ladder = self._laid(beta, axes, state.log_prob)
        inner = {name: value for name, value in state.aux.items() if not name.startswith(OWN)}
        before = State(state.theta, state.log_prob, state.grad, inner)
        moved, local = self._kernel(axes).step(target, before, ladder.betas, generator)
        after, swap, memory = self.swaps.round(target, before, moved, ladder, SwapMemory.of(state), generator)
        info = Info(
            acceptance=local.acceptance[0],
            jump=jump_length(target.space, state.theta[0], after.theta[0]),
            evaluations=(local.evaluations + self.swaps.rule.evaluations) * len(self.betas),
            swap=swap,
            aux={name: after.aux[name][0] for name in local.aux},
            rungs=local.acceptance,
            hot_jump=local.jump[-1],
            slopes=after.log_prob,
        )
        return memory.into(after), info

    def draws(self, state: State) -> Tensor:
        return state.theta[0]

    def _kernel(self, axes: int) -> Kernel:
        """The kernel of all replicas, for states of so many batch axes."""
        return self.tables or self.rungs.laid(axes)

    def _laid(self, beta: Tensor, axes: int, like: Tensor) -> Rungs:
        """The ladder at inverse temperature `beta` as a whole; the same object as long as nothing changes.

        In the dtype of `like`, as that of the states else follows a ladder that was not converted.

        Tables then need not compare it with theirs in every step.
        """
        count = changes(beta)
        known = self._tempered
        if known is None or not known.holds(self.betas, beta, count, axes, like):
            sizes = None if self.step_sizes is None else along_first(self.step_sizes, axes)
            laid = Rungs(apart((beta * along_first(self.betas, axes)).to(like)), sizes)
            if count is None or laid.betas.is_inference():
                return laid  # changes of such tensors are not counted
            known = self._tempered = _Tempered(self.betas, beta, count, axes, laid)
        return known.laid


@dataclass(frozen=True, slots=True)
class _Tempered:
    """A ladder laid along the batch axes, and what it was computed from."""

    betas: Tensor
    beta: Tensor
    version: int
    axes: int
    laid: Rungs

    def holds(self, betas: Tensor, beta: Tensor, version: int | None, axes: int, like: Tensor) -> bool:
        same = self.betas is betas and self.beta is beta and self.version == version
        return same and self.axes == axes and self.laid.betas.dtype == like.dtype


def _require_swaps(given: object) -> Swaps:
    """`given`, or the default where it is None; TypeError, in one sentence, for anything else."""
    if given is None:
        return Swaps()
    if not isinstance(given, Swaps):
        raise TypeError(
            f"swap must be a samplers.Swaps such as Swaps(rule='metropolis'), {described(given)} was given"
        )
    return given


def check_rule(kernel: Kernel, swaps: Swaps) -> None:
    """Raises ValueError if the swap rule does not hold for the moves of `kernel`."""
    if swaps.rule.needs_step_size and not _has_langevin_flow(kernel):
        raise ValueError(
            "swap.rule=history_exact holds for unadjusted Langevin moves on discrete spaces (balancing=0.5, "
            f"norm=2) only, other moves ({type(kernel).__name__}) were given"
        )


def _has_langevin_flow(kernel: Kernel) -> bool:
    """Whether the moves of `kernel` are those that `swap_rules.HistoryExactRule` holds for."""
    if not isinstance(kernel, MetropolisHastings) or kernel.adjusted:
        return False
    proposal = kernel.proposal
    if not isinstance(proposal, LangevinProposal):
        return False
    return bool(proposal.norm == 2.0 and proposal.balancing == 0.5)
