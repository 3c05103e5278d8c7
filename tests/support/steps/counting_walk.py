"""A single-flip walk that keeps the number of ones of each chain as a whole number in its state."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from samplers import Info, Kernel, State
from samplers.choice import choose
from samplers.kernel import evaluate
from targets import Target
from targets.randomness import Generator, uniform


class CountingWalk(Kernel):
    """Flips one bit or not, exactly; `ones` of its state goes where theta goes."""

    exact = True

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return replace(evaluate(target, theta, gradient=False), aux={"ones": theta.sum(-1).long()})

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        place, chance = uniform(generator, state.log_prob.shape, (2,), like=state.theta).unbind(-1)
        at = (place * target.space.d).long().unsqueeze(-1)
        bit = state.theta.gather(-1, at)
        flipped = evaluate(target, state.theta.scatter(-1, at, 1 - bit), gradient=False)
        ones = state.aux["ones"] + (1 - 2 * bit).squeeze(-1).long()
        acceptance = (beta * (flipped.log_prob - state.log_prob)).clamp(max=0.0).exp()
        moves = chance < acceptance
        after = choose(moves, replace(flipped, aux={"ones": ones}), state)
        return after, Info(acceptance, moves.to(acceptance), evaluations=1)


def require_counted(state: State) -> None:
    """Asserts that `ones` is that of theta in every chain, and not all the same."""
    assert torch.equal(state.aux["ones"], state.theta.sum(-1).long())
    assert len(state.aux["ones"].unique()) > 1
