"""Simulated tempering around any kernel: one chain that moves between temperatures as well as in space."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from samplers.choice import choose
from samplers.hyperparameters import AUTO, move_rate
from samplers.kernel import Info, Kernel, State
from samplers.kernel_family import family_of, resized, rung_step_sizes
from samplers.tempering.around_kernel import AroundKernel
from samplers.tempering.ladder import check_ladder, require_proper
from samplers.tempering.path import TemperedPath
from targets.checks import is_number
from targets.randomness import Generator, uniform
from targets.target import Target

LEVEL = "tempering.level"
"""Key in ``State.aux`` of the level of each chain, ``(*batch)``, int64: 0 the cold one, L - 1 the hot one."""


class SimulatedTempering(AroundKernel):
    """A chain on (level, theta) with the joint distribution p(i, theta) ~ exp(beta_i U(theta)) / Z_i.

    STMH, Algorithm 1. With probability `rate` a step proposes the level above or below, one half each; it
    is accepted with probability min(1, exp((beta_j - beta_i) U(theta)) Z_i / Z_j), and stays at the ends.
    Otherwise it is a step of `kernel` at beta_i. Chains start at the hot level.

    Levels are counted as in every ladder here: level i is level L - i of the paper, which counts from the
    hot end, from 1. Whatever the Z_i are, the states at level 0 have the distribution of the target; with
    wrong ones the levels are visited unevenly. The states at other levels are not draws from it: `has_levels`
    says so, `Info.level` where each chain is, and metrics that do not support levels are refused.

    Both kinds of move are computed for all chains and one is taken, so that nothing waits for the host;
    the kernel's evaluations are spent in every step. `Info.acceptance` is that of the kernel's move.

    Spaces: as the kernel.
    Cost: as the kernel.
    Source: STMH, Algorithm 1.

    Args:
        kernel: any kernel; STMH is this around the random walk.
        ladder: inverse temperatures beta_i, decreasing from 1, L of them
            (`samplers.tuning.tempered_level_tuning` finds them).
        log_partition: log Z_i of each level, from the cold one, as a list, a tensor or an array. Only
            differences between them matter.
        rate: lambda, the probability of a move between levels.
        step_size: one for all levels, one per level, or None for that of `kernel`, if it has one: a tensor of
            several holds one per level.

    Raises:
        ValueError: for a rate, a ladder, partition functions or step sizes that do not fit.
    """

    has_levels = True

    def __init__(
        self,
        kernel: Kernel,
        ladder: Sequence[float],
        log_partition: Sequence[float],
        rate: float = 0.5,
        step_size: float | Sequence[float] | None = None,
    ) -> None:
        self.rate = move_rate(rate)
        super().__init__(kernel)
        self.exact = kernel.exact
        self.betas = check_ladder(ladder, auto=False)
        self.step_sizes = level_step_sizes(kernel, step_size, self.levels)
        if self.step_sizes is not None:
            self.step_sizes = self.step_sizes.expand(self.levels)
        self.log_partition = check_log_partition(log_partition, self.levels)
        self.whole = None if self.step_sizes is None else family_of(kernel)(self.step_sizes)

    @property
    def levels(self) -> int:
        """Number of levels L."""
        return len(self.betas)

    def check(self, target: Target) -> None:
        super().check(target)
        require_proper(target, self.betas)

    def hottest(self, levels: int) -> SimulatedTempering:
        """The chain on the `levels` hottest levels only; its level 0 is the coldest of those."""
        part = copy.copy(self)
        part.betas, part.log_partition = self.betas[-levels:], self.log_partition[-levels:]
        part.step_sizes = None if self.step_sizes is None else self.step_sizes[-levels:]
        return part

    def weighted(self, log_partition: Tensor) -> SimulatedTempering:
        """The same chain with other log Z_i, ``(L,)``."""
        other = copy.copy(self)
        other.log_partition = log_partition.to(self.betas)
        return other

    def at(self, level: Tensor) -> Kernel:
        """The kernel with the step sizes of the levels ``(*batch)`` at which the chains stand."""
        if self.step_sizes is None or self.whole is None:
            return self.base
        return resized(self.whole, self.step_sizes[level])

    def log_acceptance(self, log_prob: Tensor, level: Tensor, proposed: Tensor, beta: Tensor) -> Tensor:
        """log min(1, p(j, theta) / p(i, theta)) of a move from level i to j, shape ``(*batch)``.

        Minus infinity where j is no level: the chain stays. The enumeration tests read it here.

        Args:
            log_prob: U(theta), ``(*batch)``, finite.
            level: i, ``(*batch)``.
            proposed: j, ``(*batch)``.
            beta: inverse temperature of the whole ladder.
        """
        inside = (proposed >= 0) & (proposed < self.levels)
        there = torch.where(inside, proposed, level)
        change = beta * (self.betas[there] - self.betas[level])
        ratio = TemperedPath.log_move_ratio(log_prob, change)
        ratio = ratio - (self.log_partition[there] - self.log_partition[level])
        return ratio.clamp(max=0.0).masked_fill(~inside, -torch.inf)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        """Chains at `theta` on the hot level, as the algorithm starts."""
        self.check(target)
        hot = torch.full(target.space.batch_shape(theta), self.levels - 1, device=theta.device)
        start = self.at(hot).init(target, theta, (beta * self.betas[hot]).to(target.like()))
        return replace(start, aux={**start.aux, LEVEL: hot})

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        level = state.aux[LEVEL]
        here = replace(state, aux={name: value for name, value in state.aux.items() if name != LEVEL})
        here_beta = (beta * self.betas[level]).to(state.log_prob)
        moved, local = self.at(level).step(target, here, here_beta, generator)
        chance, way, draw = uniform(generator, level.shape, (3,), like=state.log_prob).unbind(-1)
        between = chance < self.rate
        proposed = torch.where(way < 0.5, level - 1, level + 1)
        acceptance = self.log_acceptance(state.log_prob, level, proposed, beta).exp()
        after = choose(~between, moved, here)
        level = torch.where(between & (draw < acceptance), proposed, level)
        aux = {name: after.aux[name] for name in local.aux}
        info = replace(local, jump=local.jump.masked_fill(between, 0.0), level=level, aux=aux)
        return replace(after, aux={**after.aux, LEVEL: level}), info


def level_step_sizes(
    kernel: Kernel, step_size: Any, levels: int | None, words: Sequence[str] = ()
) -> Tensor | None:
    """`rung_step_sizes`, but None where the kernel's own is one for all levels: the kernel stays as it is."""
    sizes = rung_step_sizes(kernel, step_size, levels, words)
    return None if step_size is None and sizes is not None and sizes.dim() == 0 else sizes


def check_log_partition(given: Any, levels: int | None, *, auto: bool = False) -> Tensor:
    """log Z_i ``(L,)`` in float64.

    Args:
        given: one number for each level; a tensor or an array, too, as for a ladder.
        levels: L; None where the ladder is not known yet.
        auto: whether the caller would have taken ``"auto"``, too; for the message.

    Raises:
        ValueError: if it is anything else, or a number is not finite.
    """
    found = given.tolist() if hasattr(given, "tolist") else given
    values = [] if isinstance(found, str) or not isinstance(found, Sequence) else list(found)
    if levels is None or len(values) != levels or not all(map(is_number, values)):
        allowed = f"{AUTO!r} or " if auto else ""
        raise ValueError(
            f"log_partition must be {allowed}one number for each level of a given ladder, "
            f"{values or found!r} was given"
        )
    tensor = torch.tensor(values, dtype=torch.float64)
    if not bool(tensor.isfinite().all()):
        raise ValueError(f"log_partition must be finite, {values!r} was given")
    return tensor
