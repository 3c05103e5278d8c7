"""The target's held-out reference sample as a kernel: the floor of a table."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State, evaluate
from samplers.reference.reference_draws import arrive, check_untempered
from targets.randomness import Generator, uniform
from targets.target import Target

TIMES = "times_handed_out"
"""Key in ``State.aux`` of how often each held-out draw came so far, int64, ``(*leading, H)``."""


class HeldOutDraws(Kernel):
    """Draws from the model's held-out reference draws ``(H, *event_shape)``, without replacement; not exact.

    The chains, the last axis of the batch ``(*leading, chains)``, get in each step the draws that came least
    often so far, in random order: no draw comes twice in a step unless there are more chains than draws,
    none comes an (n + 1)-th time in a run before all came n times, and each chain's draw is uniform. With
    replacement, repeats in a step would raise MMD^2 by (1 - kbar) / H.

    Not exact: the held-out draws are finitely many and stand for the target only as well as the block
    Gibbs chains that made them. No evaluation is charged: the log density is looked up only so that `State`
    holds what it promises. The draws may be set after `init`, which leaves the chains where they are.

    Spaces: models with a reference sample.
    Cost: no evaluation.
    """

    temperable = False
    exact = False

    def check(self, target: Target) -> None:
        _held_out(target)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        held_out = _held_out(target)
        check_untempered("ground_truth_draws", beta)
        state = evaluate(target, theta, gradient=False)
        return replace(state, aux={TIMES: _never(state, held_out)})

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        held_out = _held_out(target)
        if not len(held_out):
            raise ValueError("ground_truth_draws needs the target's held_out draws, which are still empty")
        times = state.aux[TIMES]
        if times.shape[-1] != len(held_out):
            times = _never(state, held_out)
        *leading, chains = state.log_prob.shape
        order = uniform(generator, (*leading, 1), (len(held_out),), like=state.log_prob).squeeze(-2)
        # Counted from the least, so that the fractions that break ties keep their bits.
        order = (order + (times - times.amin(-1, keepdim=True))).argsort(-1)
        rows = order[..., torch.arange(chains, device=order.device) % len(held_out)]
        after, info = arrive(target, state, held_out[rows].to(state.theta))
        times = times.scatter_add(-1, rows, torch.ones_like(rows))
        return replace(after, aux={TIMES: times}), info


def _never(state: State, held_out: Tensor) -> Tensor:
    """No draw came yet."""
    shape = (*state.log_prob.shape[:-1], len(held_out))
    return torch.zeros(shape, dtype=torch.int64, device=state.log_prob.device)


def _held_out(target: Target) -> Tensor:
    held_out = getattr(target, "held_out", None)
    if isinstance(held_out, Tensor):
        return held_out
    raise ValueError(
        f"ground_truth_draws needs a target with held_out draws, {type(target).__name__} has none"
    )
