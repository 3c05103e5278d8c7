"""Deciding on the parts of a move one by one, as the released code of EDLP does with tours; not exact."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from samplers.choice import choose
from samplers.kernel import Info, State, evaluate
from samplers.metropolis_hastings import jump_length
from targets.randomness import Generator, uniform
from targets.spaces import Binary, Space
from targets.target import Target


def require_positions(sampler: str, space: Space, width: int) -> None:
    """Refuses a space whose states are not lists of words of `width` bits.

    Raises:
        ValueError: if it is one, naming the `sampler`.
    """
    if not isinstance(space, Binary) or space.d % width:
        raise ValueError(f"{sampler} needs a binary space of whole positions of {width} bits, not {space}")


def by_position(state: State, width: int) -> State:
    """`state` with its positions as the last batch axis: each has `width` bits and the log density of all."""

    def split(tensor: Tensor) -> Tensor:
        return tensor.reshape(*tensor.shape[:-1], -1, width)

    assert state.grad is not None
    theta = split(state.theta)
    return State(
        theta,
        state.log_prob.unsqueeze(-1).expand(theta.shape[:-1]),
        split(state.grad),
        {name: split(value) for name, value in state.aux.items()},
    )


def decided(
    target: Target, state: State, proposed: State, acceptance: Tensor, width: int, generator: Generator
) -> tuple[State, Info]:
    """Each position of `proposed` with its own probability, else that of `state`.

    Auxiliary variables move with their positions. A chain stays where it is if its mixture has density zero,
    or none: NaN, which is its acceptance then. Costs one gradient, beside the one of `proposed`.

    Args:
        acceptance: of each position, ``(*batch, positions)``.
    """
    batch, positions = acceptance.shape[:-1], acceptance.shape[-1:]
    moves = uniform(generator, batch, positions, like=acceptance) < acceptance
    moved = moves.repeat_interleave(width, -1)
    aux = {name: torch.where(moved, proposed.aux[name], value) for name, value in state.aux.items()}
    theta = torch.where(moved, proposed.theta, state.theta)
    mixed = replace(evaluate(target, theta, gradient=True), aux=aux)
    after = choose(mixed.log_prob > -torch.inf, mixed, state)
    mean = acceptance.mean(-1).masked_fill(mixed.log_prob.isnan(), torch.nan)
    jump = jump_length(target.space, state.theta, after.theta)
    return after, Info(mean, jump, evaluations=2, aux=after.aux)
