"""Exact probabilities and draws of any small discrete target, by listing its states."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from targets.randomness import Generator, draw_index, uniform
from targets.spaces import discrete_space
from targets.target import Target


def enumerated_probabilities(target: Target) -> Tensor:
    """Probabilities of all states in the order of `Discrete.states`, ``(size,)``, float64.

    Raises:
        ValueError: if there are too many states to list.
    """
    states = discrete_space("enumeration", target.space).states()
    return target.log_prob(states.to(target.like())).double().softmax(-1)


def enumerated_draws(
    target: Target, probabilities: Tensor, shape: Sequence[int], generator: Generator
) -> Tensor:
    """Independent draws ``(*shape, *event_shape)`` of states with the given `probabilities` ``(size,)``."""
    space = discrete_space("enumeration", target.space)
    index = draw_index(probabilities, uniform(generator, shape, like=probabilities))
    return space.at(index, target.like().dtype)
