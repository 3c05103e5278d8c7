"""Proposals that let every coordinate jump for some time by itself, at rates of the current state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.moved_copy import moved_copy
from samplers.proposals.balancing_functions import FROM_ROOT, BalancingFunction
from samplers.proposals.draws.places import draw_level
from samplers.proposals.few_differences import DifferenceTable
from samplers.proposals.local_moves import flip_differences, log_ratios, present
from targets.compiling.tracing import is_traced
from targets.randomness import Generator, uniform
from targets.spaces import Binary, Discrete, Space, level_space
from targets.sum_log import sum_log_any

Solver = Callable[[Tensor], Tensor]
"""From r = time * rate / nu, which is used up, the share of its probability nu that a level lacks: S."""

FLIPS = "flip_probabilities"
"""Name of the weights of bits: the probability that each of them flips."""

STEEPEST = 60.0
"""The largest |log t| of a bit that the proposal tells from larger ones, so that no number is denormal."""


def interpolated(ratio: Tensor) -> Tensor:
    """exp(-r): exact for two levels."""
    # The exponential of less than -80 would be denormal, which takes the CPU thirty times as long.
    return ratio.clamp_(max=80.0).neg_().exp_()


def euler_forward(ratio: Tensor) -> Tensor:
    """max(0, 1 - r): the Euler step, which ends at nu."""
    return ratio.clamp_(max=1.0).neg_().add_(1.0)


class JumpProcess:
    """Each coordinate i takes the level v with probability nu_v (1 - S(h g(t_v) / nu_v)), or stays.

    t_v is the ratio of tempered densities of the move alone, g(t_v) its rate, nu_v = t_v / sum_u t_u the
    stationary distribution of the coordinate, h the time and S the share that `solver` leaves: exp(-r), or
    max(0, 1 - r) for an Euler step. With two levels exp(-r) is the exact solution, as
    g(t) / nu = g(t) + g(1/t) for a balanced g.

    Args:
        step_size: h, a tensor that broadcasts over the batch axes.
        function: g.
        solver: `interpolated` or `euler_forward`.
        table: of the changes of U by one flip, where there are few.
    """

    needs_gradient = True

    def __init__(
        self,
        step_size: Tensor,
        function: BalancingFunction,
        solver: Solver,
        table: DifferenceTable | None = None,
    ) -> None:
        self.step_size, self.function, self.solver, self.table = step_size, function, solver, table
        # By identity: a function of a user's own may have no hash.
        self._from_root = next((root for known, root in FROM_ROOT.items() if known is function), None)

    def to(self, like: Tensor) -> Self:
        """A copy whose step size has the dtype and device of `like`."""
        return moved_copy(self, like)

    def with_table(self, table: DifferenceTable) -> JumpProcess:
        """See `samplers.proposals.few_differences.OfDifferences`; not of a subclass."""
        known = type(self) is JumpProcess
        return JumpProcess(self.step_size, self.function, self.solver, table) if known else self

    def weight_names(self, space: Space) -> frozenset[str]:
        """Of bits, and not of a subclass, which may move otherwise."""
        return frozenset({FLIPS}) if type(self) is JumpProcess and isinstance(space, Binary) else frozenset()

    def weights(self, space: Space, state: State, beta: Tensor) -> Mapping[str, Tensor]:
        """See `samplers.proposals.kept_weights.Keepable`."""
        return {FLIPS: self._flips(level_space("a jump process", space), state, beta)}

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        discrete = level_space("a jump process", space)
        if isinstance(discrete, Binary):
            return self.propose_weighed(space, state, beta, self.weights(space, state, beta), generator)
        scores = self._scores(discrete, state, beta)
        level, _ = draw_level(scores.exp(), generator)
        log_prob = scores.gather(-1, level.unsqueeze(-1)).squeeze(-1).sum(-1)
        return discrete.from_levels(level, state.theta.dtype), log_prob

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        discrete = level_space("a jump process", space)
        if isinstance(discrete, Binary):
            weights = self.weights(space, source, beta)
            return self.log_prob_weighed(space, source, destination, beta, weights)
        scores = self._scores(discrete, source, beta)
        return scores.gather(-1, discrete.to_levels(destination).unsqueeze(-1)).squeeze(-1).sum(-1)

    def propose_weighed(
        self, space: Space, state: State, beta: Tensor, weights: Mapping[str, Tensor], generator: Generator
    ) -> tuple[Tensor, Tensor]:
        """`propose` of bits, with the `weights` of `state`."""
        draws = uniform(generator, state.theta.shape[:-1], state.theta.shape[-1:], like=state.theta)
        flip = draws.lt_(weights[FLIPS])
        return (state.theta - flip).abs_(), self._log_flips(state, beta, weights, flip)

    def log_prob_weighed(
        self, space: Space, source: State, destination: Tensor, beta: Tensor, weights: Mapping[str, Tensor]
    ) -> Tensor:
        """`log_prob` of bits, with the `weights` of `source`."""
        return self._log_flips(source, beta, weights, (destination - source.theta).abs_())

    def _flips(self, space: Discrete, state: State, beta: Tensor) -> Tensor:
        """The probability that each bit flips, like theta."""
        known = self._from_table(lambda likely: likely, state, beta)
        return self._of_rise(log_ratios(space, state, beta)) if known is None else known

    def _log_flips(self, state: State, beta: Tensor, weights: Mapping[str, Tensor], flip: Tensor) -> Tensor:
        """log probability ``(*batch)`` of `flip`, 1 or 0 for each bit, with the `weights` of `state`."""
        flips = self._from_table(_log, state, beta)
        stays = self._from_table(lambda likely: _log(1.0 - likely), state, beta)
        if flips is None or stays is None:
            return _log_flips(weights[FLIPS], flip)
        return torch.where(flip > 0.0, flips, stays).sum(-1)

    def _from_table(self, of_likely: Callable[[Tensor], Tensor], state: State, beta: Tensor) -> Tensor | None:
        """A function of the probability that each bit flips, in compiled steps if there is a table."""
        if self.table is None or not is_traced():
            return None

        def of_values(values: Tensor) -> Tensor:
            rise = values * torch.as_tensor(beta).to(values).unsqueeze(-1)
            sizes = (*self.step_size.shape, 1)
            shape = torch.broadcast_shapes(rise.shape, sizes)  # type: ignore[no-untyped-call]
            return of_likely(self._of_rise(rise.expand(shape).clone()))

        return self.table.of(of_values, flip_differences(state))

    def _of_rise(self, rise: Tensor) -> Tensor:
        """min(t, 1) (1 - S) / (1 + min(t, 1/t)) of log t, whose memory is used up.

        Both ends of a move have their log t cut at `STEEPEST`.
        """
        rise = rise.clamp_(-STEEPEST, STEEPEST)
        size = rise.abs()
        root = (-0.5 * size).exp_()
        less = root.square()
        rate = self.function(size).exp_() if self._from_root is None else self._from_root(root)
        likelier = torch.gt(rise, 0.0, out=rise)
        weight = torch.maximum(less, likelier, out=likelier)
        total = less.add_(1.0)
        left = self.solver(rate.mul_(total).mul_(self.step_size.unsqueeze(-1)))
        return weight.mul_(left.neg_().add_(1.0)).div_(total)

    def _scores(self, space: Discrete, state: State, beta: Tensor) -> Tensor:
        """log probability of every level of every coordinate, ``(*batch, d, levels)``."""
        rise = log_ratios(space, state, beta)
        nu = rise - rise.logsumexp(-1, keepdim=True)
        time = self.step_size.reshape(*self.step_size.shape, 1, 1)
        left = self.solver((self.function(rise) - nu).exp_().mul_(time))
        gained = 1.0 - left
        here = present(space, state.theta)
        stay = left.masked_fill_(here, 1.0).mul_(nu.exp()).sum(-1, keepdim=True)
        return torch.where(here, stay.log_(), nu + gained.log_())


def _log_flips(likely: Tensor, flip: Tensor) -> Tensor:
    """log probability ``(*batch)`` of `flip` (1 or 0 for each bit), where `likely` is that of a flip."""
    stay = 1.0 - likely
    # `lerp` gives either end as it is, ten times as fast as `where`, to all but a compiler.
    chosen = torch.where(flip > 0.0, likely, stay) if is_traced() else stay.lerp_(likely, flip)
    return sum_log_any(chosen.clamp_(min=torch.finfo(likely.dtype).tiny))


def _log(likely: Tensor) -> Tensor:
    """log of probabilities, that of 0 as `_log_flips` has it."""
    return likely.clamp(min=torch.finfo(likely.dtype).tiny).log()
