"""The Hamming ball sampler (Titsias and Yau 2017): a block is redrawn near a random centre."""

from __future__ import annotations

import functools
import itertools
import math

import torch
from torch import Tensor

from samplers.discrete.gibbs import certain, tempered_weights
from samplers.kernel import Info, Kernel, State, evaluate
from samplers.proposals.draws.places import draw_place, whole_numbers
from targets.checks import at_most, whole_number
from targets.randomness import Generator, uniform
from targets.spaces import Discrete, discrete_space
from targets.target import Target

MOST_CANDIDATES = 2**16
"""How many states a step may evaluate for each chain."""


class HammingBall(Kernel):
    """Redraws a random block of coordinates within a Hamming ball under exp(beta * log_prob); exact.

    Each chain picks `block_size` coordinates uniformly, then a centre uniformly among the states of the block
    that differ from its own in at most `radius` of them, then its next state from the target's conditional
    within the same distance of the centre. Both draws are conditionals of one joint distribution, so that the
    target is left invariant. A step evaluates every state of the ball: block 10 and radius 1 cost 11 on bits,
    1 + 10 (levels - 1) in general.

    HB-10-1 of EDLP (settings E.5) is ``block_size=10 radius=1``.

    Spaces: binary, ordinal, categorical, tours.
    Cost: one evaluation for each state of the ball.
    Source: Titsias and Yau (2017).

    Args:
        block_size: coordinates of a block; a target that has fewer is one block.
        radius: of the ball, from 1 to `block_size`.
    """

    exact = True

    def __init__(self, block_size: int = 10, radius: int = 1) -> None:
        self.block_size = whole_number("block_size", block_size)
        self.radius = whole_number("radius", radius)
        at_most("radius", radius, "block_size", block_size)

    def check(self, target: Target) -> None:
        space = discrete_space(type(self).__name__, target.space)
        block, radius = self._reach(space)
        states = sum(math.comb(block, k) * (space.levels - 1) ** k for k in range(radius + 1))
        if states > MOST_CANDIDATES:
            raise ValueError(
                f"{self._settings()} would make {states} states to evaluate in a step, the limit is "
                f"{MOST_CANDIDATES}"
            )

    def _settings(self) -> str:
        """The arguments of the constructor, for messages."""
        return f"block_size={self.block_size} and radius={self.radius}"

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        return evaluate(target, theta, gradient=False)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        space, batch = target.space, state.log_prob.shape
        assert isinstance(space, Discrete)
        levels, shifts = space.to_levels(state.theta), self._ball(space, state.theta.device)
        ranks = uniform(generator, batch, (space.d,), like=state.theta)
        block = ranks.topk(shifts.shape[-1], dim=-1, sorted=False).indices
        centre = self._centre(space, levels, block, uniform(generator, batch, like=state.theta))
        ball, log_probs = _around(target, centre, block, shifts, state.theta.dtype)
        choice = draw_place(tempered_weights(log_probs, beta).softmax(-1), generator)
        taken = ball.gather(0, choice.movedim(-1, 0).unsqueeze(-1).expand(1, *levels.shape))[0]
        theta = space.from_levels(taken, state.theta.dtype)
        after = State(theta, log_probs.gather(-1, choice).squeeze(-1))
        jump = space.hamming(state.theta, theta)
        return after, Info(certain(log_probs), jump, evaluations=len(shifts))

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination) of one step, shape ``(*batch)``, which both states share.

        The mean over all blocks and all centres of the conditional that `step` draws from.
        """
        space = discrete_space(type(self).__name__, target.space)
        old, new = space.to_levels(source.theta), space.to_levels(destination)
        shifts = self._ball(space, destination.device)
        blocks = list(itertools.combinations(range(space.d), shifts.shape[-1]))
        total = torch.zeros(old.shape[:-1], dtype=destination.dtype, device=destination.device)
        for places in blocks:
            block = torch.tensor(places, device=destination.device).expand(*old.shape[:-1], -1)
            for shift in shifts:
                centre = _shifted(space, old, block, shift)
                ball, log_probs = _around(target, centre, block, shifts, destination.dtype)
                conditional = tempered_weights(log_probs, beta).softmax(-1)
                total += torch.where((ball == new).all(-1).movedim(0, -1), conditional, 0.0).sum(-1)
        return (total / (len(blocks) * len(shifts))).log()

    def _centre(self, space: Discrete, levels: Tensor, block: Tensor, draw: Tensor) -> Tensor:
        """A uniform point ``(*batch, d)`` of the ball around `levels`; `draw` is uniform on [0, 1)."""
        shifts = self._ball(space, levels.device)
        return _shifted(space, levels, block, shifts[whole_numbers(draw, len(shifts))])

    def _ball(self, space: Discrete, device: torch.device) -> Tensor:
        return _shifts(*self._reach(space), space.levels, device)

    def _reach(self, space: Discrete) -> tuple[int, int]:
        """Size of a block of this space, and the radius in it."""
        return min(self.block_size, space.d), min(self.radius, space.d)


@functools.cache
def _shifts(block_size: int, radius: int, levels: int, device: torch.device) -> Tensor:
    """What to add to a block's levels, modulo their number, for each state of the ball: ``(ball, block)``."""
    rows = [
        [dict(zip(places, offsets, strict=True)).get(place, 0) for place in range(block_size)]
        for distance in range(radius + 1)
        for places in itertools.combinations(range(block_size), distance)
        for offsets in itertools.product(range(1, levels), repeat=distance)
    ]
    return torch.tensor(rows, device=device)


def _shifted(space: Discrete, levels: Tensor, block: Tensor, shift: Tensor) -> Tensor:
    """`levels` ``(*batch, d)`` with `shift` added to those of `block`, modulo their number."""
    return levels.scatter(-1, block, (levels.gather(-1, block) + shift) % space.levels)


def _around(
    target: Target, centre: Tensor, block: Tensor, shifts: Tensor, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """The ball around `centre`: levels ``(ball, *batch, d)`` and U ``(*batch, ball)``, evaluated at once."""
    space = target.space
    assert isinstance(space, Discrete)
    size = len(shifts)
    each = shifts.reshape(size, *(1,) * (block.dim() - 1), -1)
    ball = _shifted(space, centre.expand(size, *centre.shape), block.expand(size, *block.shape), each)
    return ball, target.log_prob(space.from_levels(ball, dtype)).movedim(0, -1)
