"""The discrete Langevin proposal (DLP): every coordinate moves at once, along one gradient.

For each coordinate i independently (Zhang, Liu and Liu 2022; PT-DLP v2, Eqs. 2-4),

    q_i(y_i | x) is proportional to exp{ b beta dU_i(x) (y_i - x_i) - |y_i - x_i|^p / (2 alpha) }

with step size alpha (in squared state units when p = 2), balancing constant b (1/2 in the papers) and
norm p. On one-hot spaces |y_i - x_i|_p^p is 2 for any other level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.moved_copy import moved_copy
from samplers.proposals.draws.places import draw_level
from samplers.proposals.few_differences import DifferenceTable
from samplers.proposals.local_moves import flip_differences
from targets.compiling.tracing import is_traced
from targets.randomness import Generator, uniform
from targets.spaces import Binary, Categorical, Discrete, Space, level_space
from targets.sum_log import sum_log
from targets.target import Target

ODDS, LOG_TOTAL = "flip_odds", "flip_log_total"
FLIP_WEIGHTS = frozenset({ODDS, LOG_TOTAL})
"""Names of the weights of bits, see `_flip_weights`."""


class LangevinProposal:
    """The proposal q above on binary, ordinal and categorical spaces.

    Args:
        step_size: alpha, a tensor that broadcasts over the batch axes.
        balancing: b, a number or a tensor that broadcasts over the batch axes.
        norm: p, at least 1.
        table: of the changes of U by one flip, where there are few.
    """

    needs_gradient = True

    def __init__(
        self,
        step_size: Tensor,
        balancing: Tensor | float = 0.5,
        norm: float = 2.0,
        table: DifferenceTable | None = None,
    ) -> None:
        self.step_size = step_size
        self.balancing = balancing
        self.norm = norm
        self.table = table
        self._cost = 0.5 / step_size

    def to(self, like: Tensor) -> Self:
        """A copy whose hyperparameters have the dtype and device of `like`."""
        moved = moved_copy(self, like)
        moved._cost = 0.5 / moved.step_size
        return moved

    def with_table(self, table: DifferenceTable) -> LangevinProposal:
        """See `samplers.proposals.few_differences.OfDifferences`; not of a subclass."""
        known = type(self) is LangevinProposal
        return LangevinProposal(self.step_size, self.balancing, self.norm, table) if known else self

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        weights = self._from_table(state, beta)
        return self.propose_along(space, state, self.drift(state, beta), generator, weights)

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        weights = self._from_table(source, beta)
        return self.log_prob_along(space, source, self.drift(source, beta), destination, weights)

    def weight_names(self, space: Space) -> frozenset[str]:
        """Of bits, and not of a subclass, which may move otherwise."""
        return FLIP_WEIGHTS if type(self) is LangevinProposal and isinstance(space, Binary) else frozenset()

    def weights(self, space: Space, state: State, beta: Tensor) -> Mapping[str, Tensor]:
        """See `samplers.proposals.kept_weights.Keepable`."""
        return self._from_table(state, beta) or self.weights_along(state, self.drift(state, beta))

    def weights_along(self, state: State, drift: Tensor) -> Mapping[str, Tensor]:
        """`weights` of bits with any `drift`, like theta, in the place of b beta dU, which is overwritten."""
        return _flip_weights(self._flip_logits(state, drift))

    def _from_table(self, state: State, beta: Tensor) -> Mapping[str, Tensor] | None:
        """The `weights` in compiled steps, if there is a table of the changes of U."""
        if self.table is None or not is_traced():
            return None

        def odds(values: Tensor) -> Tensor:
            scale = torch.as_tensor(self.balancing * beta).to(values)
            return _odds(values * scale.unsqueeze(-1) - self._penalty(state, 1))

        return _odds_and_total(self.table.of(odds, flip_differences(state)))

    def propose_weighed(
        self, space: Space, state: State, beta: Tensor, weights: Mapping[str, Tensor], generator: Generator
    ) -> tuple[Tensor, Tensor]:
        """`propose` with the `weights` of `state`."""
        return self.propose_along(space, state, self.drift(state, beta), generator, weights)

    def log_prob_weighed(
        self, space: Space, source: State, destination: Tensor, beta: Tensor, weights: Mapping[str, Tensor]
    ) -> Tensor:
        """`log_prob` with the `weights` of `source`."""
        return self.log_prob_along(space, source, self.drift(source, beta), destination, weights)

    def tabulated(self, target: Target, beta: Tensor) -> LangevinProposal | None:
        """This proposal from tables for `target` and `beta`; None where they would be too large."""
        from samplers.proposals.tabulated_langevin import tabulated  # a subclass of this class

        return tabulated(self, target, beta)

    def drift(self, state: State, beta: Tensor) -> Tensor:
        """b beta dU, like theta."""
        assert state.grad is not None
        scale = torch.as_tensor(self.balancing * beta).to(state.grad)
        return state.grad * scale.reshape(scale.shape + (1,) * (state.grad.dim() - state.log_prob.dim()))

    def propose_along(
        self,
        space: Space,
        state: State,
        drift: Tensor,
        generator: Generator,
        weights: Mapping[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """`propose` with any `drift`, like theta, in the place of b beta dU; it is used up."""
        if isinstance(space, Binary):
            logit = self._flip_logits(state, drift)
            weights = weights or _flip_weights(logit)
            odds = weights[ODDS]
            likelier = torch.gt(logit, 0.0, out=torch.empty_like(odds))
            numerator = torch.maximum(odds, likelier, out=likelier)
            batch, event = state.theta.shape[:-1], state.theta.shape[-1:]
            # u < sigmoid(logit), multiplied out: how sigmoid() rounds depends on an element's place in
            # memory, and with it the draws of a seed would depend on the rest of the batch.
            flip = uniform(generator, batch, event, like=state.theta).mul_(odds + 1.0).lt_(numerator)
            return (state.theta - flip).abs_(), _log_flips(logit, flip, weights)
        discrete = level_space("the discrete Langevin proposal", space)
        logits = self._logits(discrete, state, drift)
        peak = logits.amax(-1, keepdim=True)
        level, total = draw_level((logits - peak).exp_(), generator)
        chosen = logits.gather(-1, level.unsqueeze(-1)).squeeze(-1)
        log_prob = (chosen - peak.squeeze(-1) - total.log()).sum(-1)
        return discrete.from_levels(level, state.theta.dtype), log_prob

    def log_prob_along(
        self,
        space: Space,
        source: State,
        drift: Tensor,
        destination: Tensor,
        weights: Mapping[str, Tensor] | None = None,
    ) -> Tensor:
        """`log_prob` with any `drift`, like theta, in the place of b beta dU; it is used up."""
        if isinstance(space, Binary):
            logit = self._flip_logits(source, drift)
            flip = (destination - source.theta).abs_()
            return _log_flips(logit, flip, weights or _flip_weights(logit))
        discrete = level_space("the discrete Langevin proposal", space)
        logits = self._logits(discrete, source, drift)
        chosen = logits.gather(-1, discrete.to_levels(destination).unsqueeze(-1)).squeeze(-1)
        return (chosen - logits.logsumexp(-1)).sum(-1)

    def _penalty(self, state: State, trailing: int) -> Tensor:
        """1 / (2 alpha) with `trailing` singleton axes behind the batch axes."""
        return self._cost.reshape(self._cost.shape + (1,) * trailing).to(state.theta)

    def _flip_logits(self, state: State, drift: Tensor) -> Tensor:
        """log odds of flipping each bit, like theta (PT-DLP v2, Algorithm 2); `drift` is used up."""
        # (1 - 2 theta) drift in one pass; what is traced may be a constant, which is not to be changed.
        out = None if is_traced() else drift
        return torch.addcmul(drift, state.theta, drift, value=-2.0, out=out).sub_(self._penalty(state, 1))

    def _logits(self, space: Discrete, state: State, drift: Tensor) -> Tensor:
        """Unnormalised log q_i of every level, ``(*batch, d, levels)``."""
        if isinstance(space, Categorical):
            # exp{-2/(2 alpha)} for leaving, 1 for staying; the term of the current level cancels in q.
            return drift + 2.0 * self._penalty(state, 2) * state.theta
        level = torch.arange(space.levels, dtype=state.theta.dtype, device=state.theta.device)
        offset = level - state.theta.unsqueeze(-1)
        penalty = self._penalty(state, 2)
        if self.norm == 2.0:
            return torch.addcmul(drift.unsqueeze(-1), offset, penalty, value=-1.0).mul_(offset)
        return drift.unsqueeze(-1) * offset - penalty * offset.abs().pow_(self.norm)


def _flip_weights(logit: Tensor) -> dict[str, Tensor]:
    """Of the log odds `logit` of flipping each bit: what does not depend on which are flipped.

    `ODDS` are e^-|logit|, from 0 to 1, those of the less likely of flipping and staying; `LOG_TOTAL` is
    sum_i log(1 + e^-|logit_i|), ``(*batch)``.
    """
    return _odds_and_total(_odds(logit))


def _odds(logit: Tensor) -> Tensor:
    return logit.abs().neg_().exp_()


def _odds_and_total(odds: Tensor) -> dict[str, Tensor]:
    return {ODDS: odds, LOG_TOTAL: sum_log(odds + 1.0)}


def _log_flips(logit: Tensor, flip: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """log probability ``(*batch)`` of `flip` (1 or 0 for each bit), whose log odds are `logit`.

    log sigmoid(x) = min(x, 0) - log(1 + e^-|x|): no exponential overflows and no large terms cancel. `flip`
    is used up.
    """
    half = flip.sub_(0.5).mul_(logit).clamp_(max=0.0)
    return 2.0 * half.sum(-1) - weights[LOG_TOTAL]
