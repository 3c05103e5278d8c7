"""Draws from a target's held-out ground truth as a kernel: the row of a table that no sampler can beat."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State, evaluate
from samplers.metropolis_hastings import jump_length
from targets.randomness import Generator, uniform
from targets.target import Target


class GroundTruthDraws(Kernel):
    """One of ``target.held_out`` ``(H, *event_shape)``, picked uniformly, at every step and for every chain.

    Not exact: the held-out draws are finitely many and stand for the target only as well as the block
    Gibbs chains that made them. No evaluation is charged: the log density is looked up only so that `State`
    holds what it promises. The draws may be set after `init`, which leaves the chains where they are.
    """

    exact = False

    def check(self, target: Target) -> None:
        _held_out(target)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        _held_out(target)
        if not bool((torch.as_tensor(beta) == 1).all()):
            raise ValueError(
                "ground_truth_draws draws from the target at beta 1 only, "
                "other inverse temperatures were given"
            )
        return evaluate(target, theta, gradient=False)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        held_out = _held_out(target)
        if not len(held_out):
            raise ValueError("ground_truth_draws needs the target's held_out draws, which are still empty")
        draw = uniform(generator, state.log_prob.shape, like=state.log_prob)
        theta = held_out[(draw * len(held_out)).long().clamp_(max=len(held_out) - 1)].to(state.theta)
        after = evaluate(target, theta, gradient=False)
        jump = jump_length(target.space, state.theta, theta)
        return after, Info(acceptance=torch.ones_like(after.log_prob), jump=jump, evaluations=0)


def _held_out(target: Target) -> Tensor:
    held_out = getattr(target, "held_out", None)
    if isinstance(held_out, Tensor):
        return held_out
    raise ValueError(
        f"ground_truth_draws needs a target with held_out draws, {type(target).__name__} has none"
    )
