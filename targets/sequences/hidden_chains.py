"""Forward filtering and backward sampling over the joint states of several binary Markov chains."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from targets.randomness import Generator, draw_index, uniform
from targets.spaces import Binary

MOST_CHAINS = 12
"""Most chains whose joint states are listed: 4,096."""


def joint_states(chains: int) -> Tensor:
    """All states of the chains at one time, ``(2^K, K)``, float64.

    Raises:
        ValueError: if there are too many.
    """
    if chains > MOST_CHAINS:
        raise ValueError(f"exact sums take at most {MOST_CHAINS} hidden chains, {chains} were given")
    return Binary(chains).states()


class HiddenChains:
    """p(x | y)^beta for K independent symmetric binary chains, each started at 0 or 1 alike.

    Source: Ghahramani and Jordan (1997), appendix B: one chain after the other moves, which takes
    O(T K 2^K) operations.

    Args:
        fit: log p(y_t | x_t) of every joint state, ``(T, 2^K)``, float64.
        log_moves: log probabilities of staying and of leaving, each a scalar.
        beta: inverse temperature, a scalar.

    Attributes:
        forward: log of the sum over all pasts that end in a joint state, ``(T, 2^K)``.
    """

    def __init__(self, fit: Tensor, log_moves: tuple[float, float], beta: Tensor) -> None:
        self.chains = int(math.log2(fit.shape[1]))
        self.log_moves = (beta * log_moves[0], beta * log_moves[1])
        messages = [beta * (fit[0] - self.chains * math.log(2.0))]
        for row in fit[1:]:
            messages.append(self._moved(messages[-1]) + beta * row)
        self.forward = torch.stack(messages)

    def log_partition(self) -> Tensor:
        """log sum over all x of p(x, y)^beta, a scalar, float64."""
        return self.forward[-1].logsumexp(0)

    def sample(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent draws ``(*shape, T K)``, float64."""
        length = len(self.forward)
        states = joint_states(self.chains).to(self.forward.device)
        numbers = uniform(generator, shape, (length,), like=self.forward)
        stay, leave = self.log_moves
        differing = (states.unsqueeze(1) - states).abs().sum(-1)
        transitions = stay * (self.chains - differing) + leave * differing
        place = draw_index(self.forward[-1].softmax(-1), numbers[..., -1])
        drawn = [place]
        for time in range(length - 2, -1, -1):
            weights = (self.forward[time] + transitions[place]).softmax(-1)
            place = draw_index(weights, numbers[..., time])
            drawn.append(place)
        return states[torch.stack(drawn[::-1], -1)].flatten(-2)

    def _moved(self, message: Tensor) -> Tensor:
        """The message after one transition of every chain, one axis of length 2 after the other."""
        stay, leave = self.log_moves
        grid = message.reshape((2,) * self.chains)
        for axis in range(self.chains):
            other = grid.flip(axis)
            grid = torch.logaddexp(grid + stay, other + leave)
        return grid.flatten()
