"""The discrete Langevin proposal looked up instead of computed, for small ordinal spaces.

On a space that can be listed, the proposal of every state is a row of a table: its cumulative
probabilities and its normaliser. A step then costs one row a coordinate and no exponentials over levels.
The distribution is that of `LangevinProposal`, to rounding.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import torch
from torch import Tensor

from samplers.inverse_temperatures import along_first
from samplers.kernel import State, evaluate
from samplers.moved_copy import moved_copy
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.proposals.draws.alias_rows import AliasRows
from samplers.proposals.draws.sorted_rows import SortedRows
from samplers.proposals.prepared_beta import PreparedBeta
from targets.compiling.tracing import apart, is_traced
from targets.randomness import Generator, for_compiled_steps, uniform
from targets.spaces import Discrete, Ordinal, Space
from targets.target import Enumerable, Target

LARGEST_TABLE = 2**26
"""Entries above which no table is made: 256 MiB in float32, a fifth more for the search, and as much again in
compiled steps."""


class TabulatedLangevin(LangevinProposal):
    """`LangevinProposal` of one target at fixed inverse temperatures, from tables.

    Args:
        proposal: what is tabulated; hyperparameters of shape ``()``, or ``(R,)`` along the first batch axis.
        target: on an ordinal space.
        beta: inverse temperatures, ``()`` or ``(R,)``; `propose` must be called with the same.
    """

    def __init__(self, proposal: LangevinProposal, target: Target, beta: Tensor) -> None:
        super().__init__(proposal.step_size, proposal.balancing, proposal.norm)
        assert isinstance(target.space, Discrete)
        states = target.space.states(beta.dtype).to(beta.device)
        size = len(states)
        listed = evaluate(target, states, gradient=True)
        assert listed.grad is not None
        shape = _rungs(proposal, beta)
        hyperparameters = [t.expand(shape).flatten() for t in (beta, proposal.step_size)]
        cumulative, normaliser = [], []
        for rung_beta, step_size in zip(*hyperparameters, strict=True):
            rung = LangevinProposal(step_size, proposal.balancing, proposal.norm)
            logits = rung._logits(target.space, listed, rung.drift(listed, rung_beta))
            total = logits.logsumexp(-1, keepdim=True)
            sums = (logits - total).double().exp_().cumsum(-1)
            cumulative.append((sums / sums[..., -1:]).to(beta.dtype))
            normaliser.append(total.squeeze(-1))
        self.cumulative = SortedRows(torch.cat(cumulative).flatten(0, 1))  # (R * size * d, levels)
        self.normaliser = torch.cat(normaliser)  # (R * size, d)
        self.beta = PreparedBeta(beta.expand(shape))
        self._scale, self._cost = apart(torch.as_tensor(self.balancing * beta)), apart(self._cost)
        self._forward: tuple[Tensor, Tensor, Tensor] | None = None
        self.offset = apart(torch.arange(len(normaliser), device=beta.device) * size)
        self.coordinate = torch.arange(target.space.d, device=beta.device)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_forward": None}

    def to(self, like: Tensor) -> Self:
        """A copy whose tables and hyperparameters have the dtype and device of `like`."""
        moved = moved_copy(self, like)
        vars(moved).pop("alias", None)
        moved.cumulative = SortedRows(self.cumulative.values.to(like))
        return moved

    @cached_property
    def alias(self) -> AliasRows:
        """The rows of `cumulative` for compiled steps; made at first use, in half a second for 41 MB."""
        return AliasRows(self.cumulative.values)

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        assert isinstance(space, Discrete)
        self.beta.check(beta)
        row = self._row(space, state.theta)
        point = uniform(generator, state.theta.shape[:-1], state.theta.shape[-1:], like=state.theta)
        rows = row.unsqueeze(-1) * len(self.coordinate) + self.coordinate
        draw = self.alias.drawn if for_compiled_steps(generator) else self.cumulative.at_most
        level = draw(rows.reshape(-1), point.reshape(-1)).reshape(rows.shape)
        theta = space.from_levels(level, state.theta.dtype)
        return theta, self._log_prob(state, theta, beta, row)

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        assert isinstance(space, Discrete)
        return self._log_prob(source, destination, beta, self._row(space, source.theta))

    def _row(self, space: Discrete, theta: Tensor) -> Tensor:
        index = space.index(theta)
        return index if len(self.offset) == 1 else index + along_first(self.offset, index.dim())

    def _penalty(self, state: State, trailing: int) -> Tensor:
        cost = self._cost
        return along_first(cost, state.log_prob.dim() + trailing).to(state.theta) if cost.dim() else cost

    def drift(self, state: State, beta: Tensor) -> Tensor:
        assert state.grad is not None
        scale = along_first(self._scale, state.grad.dim()) if self._scale.dim() else self._scale
        return state.grad * scale.to(state.grad)

    def _log_prob(self, source: State, destination: Tensor, beta: Tensor, row: Tensor) -> Tensor:
        move = destination - source.theta
        logit = self.drift(source, beta) * move - self._costs(source, destination, move)
        normaliser = self.normaliser.index_select(0, row.reshape(-1)).reshape(logit.shape)
        return (logit - normaliser).sum(-1)

    def _costs(self, source: State, destination: Tensor, move: Tensor) -> Tensor:
        """|y - x|^p / (2 alpha) of each coordinate, like theta; a move back costs what the move did."""
        known, self._forward = self._forward, None
        if known is not None and known[0] is destination and known[1] is source.theta:
            return known[2]
        distance = move.square() if self.norm == 2.0 else move.abs().pow(self.norm)
        costs = self._penalty(source, 1) * distance
        if not is_traced():
            self._forward = source.theta, destination, costs
        return costs


def _rungs(proposal: LangevinProposal, beta: Tensor) -> torch.Size:
    """The shape that the hyperparameters broadcast to, beta among them."""
    return (beta * proposal.step_size).shape


def tabulated(proposal: object, target: Target, beta: Tensor) -> TabulatedLangevin | None:
    """`proposal` from tables; None for other proposals or spaces, several step sizes, tables too large."""
    space = target.space
    if type(proposal) is not LangevinProposal or torch.as_tensor(proposal.balancing).dim():
        return None
    # Step sizes of a ladder are one for each of its rungs; others may belong to any batch axis.
    if proposal.step_size.dim() and proposal.step_size.shape != beta.shape:
        return None
    if not isinstance(space, Ordinal) or not isinstance(target, Enumerable):
        return None
    if _rungs(proposal, beta).numel() * space.size * space.d * space.levels > LARGEST_TABLE:
        return None
    return TabulatedLangevin(proposal, target, beta)
