"""A kernel that proposes a path of moves, and accepts it against the path back (Sun et al. 2022)."""

from __future__ import annotations

import itertools
from abc import abstractmethod

import torch
from torch import Tensor

from samplers.informed.informed_kernel import InformedKernel
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import Info, State
from samplers.metropolis_hastings import accepted, jump_length
from samplers.proposals.balancing_functions import BalancingFunction
from samplers.proposals.paths import MoveWeights, Path
from targets.randomness import Generator
from targets.spaces import Discrete, level_space
from targets.target import Target


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

    @abstractmethod
    def lengths(self, state: State, d: int, generator: Generator) -> tuple[Tensor, int]:
        """How many moves each chain makes, ``(*batch, 1)`` or a scalar, and the most of them."""

    @abstractmethod
    def length_probabilities(self, d: int) -> list[float]:
        """The probabilities of the lengths 1, 2, ..., which do not depend on the state."""

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        return self.evaluated(target, theta)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        space = level_space(type(self).__name__, target.space)
        lengths, longest = self.lengths(state, space.d, generator)
        weights = self._weights(space, state, beta)
        path, theta = weights.path(lengths, longest, generator)
        proposed = self.evaluated(target, theta)
        log_acceptance = self._log_acceptance(space, (state, proposed), beta, path, weights.log_prob(path))
        after, acceptance = accepted(log_acceptance, proposed, state, generator)
        return after, Info(acceptance, jump_length(space, state.theta, after.theta), evaluations=1)

    def _weights(self, space: Discrete, state: State, beta: Tensor) -> MoveWeights:
        return MoveWeights(space, state, beta, self.function, self.replacement)

    def _log_acceptance(
        self, space: Discrete, ends: tuple[State, State], beta: Tensor, path: Path, forward: Tensor
    ) -> Tensor:
        source, destination = ends
        backward = self._weights(space, destination, beta).log_prob(path.reversed())
        ratio = tempered_log_ratio(source.log_prob, destination.log_prob, beta) + backward - forward
        return ratio.clamp(max=0.0)

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination) of one step, shape ``(*batch)``, which both states share.

        The sum over all paths of what `step` proposes and accepts; what is rejected stays.
        """
        space = level_space(type(self).__name__, target.space)
        levels = space.to_levels(source.theta)
        total, moved = torch.zeros_like(source.log_prob), torch.zeros_like(source.log_prob)
        weights = self._weights(space, source, beta)
        moves = list(itertools.product(range(space.d), range(1, space.levels)))
        for length, share in enumerate(self.length_probabilities(space.d), start=1):
            for listed in itertools.product(moves, repeat=length) if share else ():
                if not self.replacement and len({site for site, _ in listed}) < length:
                    continue
                path, end = listed_path(listed, levels, space)
                forward = weights.log_prob(path)
                arrived = self.evaluated(target, space.from_levels(end, source.theta.dtype))
                taken = self._log_acceptance(space, (source, arrived), beta, path, forward) + forward
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
    return Path(*(torch.cat(part, -1) for part in zip(*steps, strict=True))), now
