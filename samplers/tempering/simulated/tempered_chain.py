"""One chain on temperatures and states: the step of simulated tempering, with every number given."""

from __future__ import annotations

import copy
from dataclasses import replace

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State, choose
from samplers.tuning.step_size import Steppable
from targets.randomness import Generator, uniform
from targets.target import Target

LEVEL = "tempering.level"
"""Key in ``State.aux`` of the level of each chain, ``(*batch)``, int64: 0 the cold one, L - 1 the hot one."""


class TemperedChain(Kernel):
    """STMH, Algorithm 1, on the joint law p(i, theta) ~ exp(beta_i U(theta)) / Z_i.

    Args:
        kernel: what moves theta at inverse temperature beta_i.
        betas: ``(L,)``, decreasing.
        log_partition: log Z_i as it is taken to be, ``(L,)``; only differences matter.
        rate: lambda, the probability that a step is a move between levels.
        step_sizes: the kernel's step size at each level, ``(L,)``; None where it has its own.
    """

    levelled = True

    def __init__(
        self,
        kernel: Kernel,
        betas: Tensor,
        log_partition: Tensor,
        rate: float,
        step_sizes: Tensor | None = None,
    ) -> None:
        self.kernel = kernel
        self.betas, self.log_partition, self.step_sizes = betas, log_partition, step_sizes
        self.rate = rate
        self.exact = kernel.exact

    @property
    def carried(self) -> tuple[str, ...]:
        return self.kernel.carried

    @property
    def needs_gradient(self) -> bool:
        return self.kernel.needs_gradient

    @property
    def levels(self) -> int:
        """Number of levels L."""
        return len(self.betas)

    def hottest(self, levels: int) -> TemperedChain:
        """The chain on the `levels` hottest levels only; its level 0 is the coldest of those."""
        part = copy.copy(self)
        part.betas, part.log_partition = self.betas[-levels:], self.log_partition[-levels:]
        part.step_sizes = None if self.step_sizes is None else self.step_sizes[-levels:]
        return part

    def weighted(self, log_partition: Tensor) -> TemperedChain:
        """The same chain with other log Z_i, ``(L,)``."""
        other = copy.copy(self)
        other.log_partition = log_partition.to(self.betas)
        return other

    def at(self, level: Tensor) -> Kernel:
        """The kernel with the step sizes of the levels ``(*batch)`` at which the chains stand."""
        if self.step_sizes is None or not isinstance(self.kernel, Steppable):
            return self.kernel
        return self.kernel.with_step_size(self.step_sizes[level])

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
        rise = beta * (self.betas[there] - self.betas[level]) * log_prob
        ratio = rise - (self.log_partition[there] - self.log_partition[level])
        return ratio.clamp(max=0.0).masked_fill(~inside, -torch.inf)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        """Chains at `theta` on the hot level, as the algorithm starts."""
        hot = torch.full(target.space.batch_shape(theta), self.levels - 1, device=theta.device)
        start = self.at(hot).init(target, theta, beta * self.betas[hot])
        return replace(start, aux={**start.aux, LEVEL: hot})

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        level = state.aux[LEVEL]
        here = replace(state, aux={name: value for name, value in state.aux.items() if name != LEVEL})
        moved, local = self.at(level).step(target, here, beta * self.betas[level], generator)
        chance, way, draw = uniform(generator, level.shape, (3,), like=state.log_prob).unbind(-1)
        between = chance < self.rate
        proposed = torch.where(way < 0.5, level - 1, level + 1)
        acceptance = self.log_acceptance(state.log_prob, level, proposed, beta).exp()
        after = choose(~between, moved, here)
        level = torch.where(between & (draw < acceptance), proposed, level)
        info = replace(local, jump=local.jump.masked_fill(between, 0.0), level=level)
        return replace(after, aux={**after.aux, LEVEL: level}), info
