"""A kernel that proposes a path of moves, and accepts it against the path back (Sun et al. 2022)."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from dataclasses import replace

import torch
from torch import Tensor

from samplers.informed.informed_kernel import InformedKernel
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import Info, Kernel, State
from samplers.metropolis_hastings import accepted, jump_length, overridden
from samplers.proposals.balancing_functions import BalancingFunction
from samplers.proposals.draws.distinct_places import rows_of
from samplers.proposals.paths import MoveWeights, Path
from samplers.proposals.prepared_beta import PreparedBeta
from samplers.served import CacheMark
from targets.randomness import Generator
from targets.spaces import Discrete, level_space
from targets.target import Target

COLUMN_TOTALS = "column_totals"
"""Key in ``State.aux`` of the log total weights of the columns in which coordinates are drawn."""

Weighed = tuple[State, MoveWeights]
"""A state and the weights of the moves from it."""


class PathKernel(InformedKernel):
    """Metropolis-Hastings on paths: log ratio beta [U(y) - U(x)] + log q(path back | y) - log q(path | x).

    A path s of distinct coordinates has q(s | x) = prod_l g_x(s_l) / sum of g_x over the coordinates that are
    not among s_1 .. s_(l-1); one with replacement has the sum over all of them. All its weights are those at
    the end where it starts, so that a step costs one evaluation (the fast form, PAFS). The path back has the
    order reversed. Each path and its reverse are in detailed balance, and so are their sums.

    Args:
        balancing_function, differences: as those of `InformedKernel`.
        replacement: whether a coordinate may move more than once.
    """

    def __init__(
        self, balancing_function: str | BalancingFunction, differences: str, replacement: bool
    ) -> None:
        super().__init__(balancing_function, differences)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement must be true or false, {replacement!r} was given")
        self.replacement = replacement
        self._kept: PreparedBeta | None = None
        self._mark = CacheMark()

    @abstractmethod
    def longest(self, d: int) -> int:
        """The most moves of a path."""

    @abstractmethod
    def lengths(self, state: State, d: int, generator: Generator) -> Tensor:
        """How many moves each chain makes, ``(*batch, 1)`` or a scalar."""

    @abstractmethod
    def length_probabilities(self, d: int) -> list[float]:
        """The probabilities of the lengths 1, 2, ..., which do not depend on the state."""

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        space = level_space(type(self).__name__, target.space)
        return self._weighed(space, self.evaluated(target, theta), beta)[0]

    def prepared(self, target: Target, beta: Tensor) -> Kernel:
        """With the total weights of the columns in the states: a step adds up those of one state, not of two.

        A ladder's would be those of another temperature after a swap.
        """
        space = level_space(type(self).__name__, target.space)
        alone = beta.dim() == 0 and not overridden(self, PathKernel, "init", "step")
        if self.replacement or not alone or rows_of(space.d, self.longest(space.d)) == 1:
            return self
        return self.prepared_copy(target, _kept=PreparedBeta(beta), _mark=CacheMark())

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        space = level_space(type(self).__name__, target.space)
        lengths = self.lengths(state, space.d, generator)
        here = self._weighed(space, state, beta)
        path, theta = here[1].path(lengths, self.longest(space.d), generator)
        there = self._weighed(space, self.evaluated(target, theta), beta)
        log_acceptance = self._log_acceptance(here, there, path, beta)
        after, acceptance = accepted(log_acceptance, there[0], here[0], generator)
        return after, Info(acceptance, jump_length(space, state.theta, after.theta), evaluations=1)

    def _weighed(self, space: Discrete, state: State, beta: Tensor) -> Weighed:
        """`state` with what a prepared kernel keeps in it, and the weights of the moves from it."""
        if kept := self._kept is not None:
            self._kept.check(beta)
        known = state.aux[COLUMN_TOTALS] if kept and self._mark.owns(state.cached_by) else None
        weights = MoveWeights(space, state, beta, self.function, self.replacement, known)
        if kept and known is None:
            totals = weights.columns(self.longest(space.d)).totals
            aux = {**state.aux, COLUMN_TOTALS: totals}
            state = replace(state, aux=aux, cached_by=self._mark.text)
        return state, weights

    def _log_acceptance(self, here: Weighed, there: Weighed, path: Path, beta: Tensor) -> Tensor:
        """log min(1, ratio) of `path` from `here` to `there`, ``(*batch)``."""
        forward, backward = self._log_path_probs(here[1], there[1], path)
        ratio = tempered_log_ratio(here[0].log_prob, there[0].log_prob, beta) + backward - forward
        return ratio.clamp(max=0.0)

    def _log_path_probs(self, here: MoveWeights, there: MoveWeights, path: Path) -> tuple[Tensor, Tensor]:
        """log q(path) and log q(path back), ``(*batch)`` each."""
        return here.log_prob(path), there.log_prob(path.reversed())

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination) of one step, shape ``(*batch)``, which both states share.

        The sum over all paths of what `step` proposes and accepts; what is rejected stays.
        """
        space = level_space(type(self).__name__, target.space)
        levels = space.to_levels(source.theta)
        total, moved = torch.zeros_like(source.log_prob), torch.zeros_like(source.log_prob)
        here = self._weighed(space, source, beta)
        moves = list(itertools.product(range(space.d), range(1, space.levels)))
        for length, share in enumerate(self.length_probabilities(space.d), start=1):
            for listed in itertools.product(moves, repeat=length) if share else ():
                if not self.replacement and len({site for site, _ in listed}) < length:
                    continue
                path, end = listed_path(listed, levels, space)
                forward = here[1].log_prob(path)
                arrived = self.evaluated(target, space.from_levels(end, source.theta.dtype))
                there = self._weighed(space, arrived, beta)
                taken = self._log_acceptance(here, there, path, beta) + forward
                # A path that is never proposed has no ratio.
                taken = share * taken.exp().masked_fill(forward.isneginf(), 0.0)
                total += torch.where((end == space.to_levels(destination)).all(-1), taken, 0.0)
                moved += taken
        stays = (space.to_levels(destination) == levels).all(-1)
        return (total + torch.where(stays, 1.0 - moved, 0.0)).clamp(min=0.0).log()


def listed_path(moves: tuple[tuple[int, int], ...], levels: Tensor, space: Discrete) -> tuple[Path, Tensor]:
    """The path of `moves` from `levels` ``(*batch, d)``, and where it ends, likewise.

    A move is a coordinate and what is added to its level.
    """
    steps, now = [], levels
    for site, shift in moves:
        index = torch.full_like(levels[..., :1], site)
        before = now[..., site, None]
        after = (before + shift) % space.levels
        now = now.scatter(-1, index, after)
        steps.append((index, before, after, torch.ones_like(before, dtype=torch.bool)))
    sites, before, after, made = (torch.cat(part, -1) for part in zip(*steps, strict=True))
    return Path(sites, before, after, made), now
