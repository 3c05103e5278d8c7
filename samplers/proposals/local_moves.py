"""Moves of one coordinate, weighted by a balancing function of the ratio of densities (Zanella 2020)."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.proposals.balancing_functions import BalancingFunction, square_root
from samplers.proposals.draws.places import draw_place
from targets.randomness import Generator
from targets.spaces import Binary, Categorical, Discrete, Space, level_space

DIFFERENCES = "differences"
"""Key in ``State.aux`` of U(y) - U(x) for every y that differs in one coordinate, where they are exact."""


def log_ratios(space: Discrete, state: State, beta: Tensor) -> Tensor:
    """beta [U(y) - U(x)] for every move of one coordinate, 0 for none.

    ``(*batch, d)`` on bits, else ``(*batch, d, levels)``. Exact where the state has `DIFFERENCES`; else of
    first order (Grathwohl et al. 2021, Eqs. 3, 4): (1 - 2 x_i) dU_i on bits, dU_i (y - x_i) on ordinal
    levels, dU_iy - dU_ix on one-hot ones.
    """
    exact = state.aux.get(DIFFERENCES)
    scale = torch.as_tensor(beta).to(state.theta).unsqueeze(-1)
    if isinstance(space, Binary):
        return exact * scale if exact is not None else flip_differences(state).mul_(scale)
    if exact is not None:
        return exact * scale.unsqueeze(-1)
    assert state.grad is not None
    if isinstance(space, Categorical):
        rise = state.grad - (state.grad * state.theta).sum(-1, keepdim=True)
    else:
        rise = state.grad.unsqueeze(-1) * _offset(space, state.theta)
    return rise * scale.unsqueeze(-1)


def flip_differences(state: State) -> Tensor:
    """U(y) - U(x) for the flip of every bit, ``(*batch, d)``: exact if the state has it, else first-order."""
    exact = state.aux.get(DIFFERENCES)
    if exact is not None:
        return exact
    assert state.grad is not None
    return torch.rsub(state.theta, 1.0, alpha=2.0).mul_(state.grad)


def present(space: Discrete, theta: Tensor) -> Tensor:
    """Which level each coordinate has, ``(*batch, d, levels)``, bool."""
    return theta > 0 if isinstance(space, Categorical) else _offset(space, theta) == 0


def relative_weights(scores: Tensor) -> tuple[Tensor, Tensor]:
    """exp(`scores`) ``(*batch, n)`` over the largest of a row, and ``scores.logsumexp(-1, keepdim=True)``."""
    peak = scores.amax(-1, keepdim=True)
    weights = (scores - peak).exp_()
    # The bits of `logsumexp`, which would take the exponentials once more.
    return weights, weights.sum(-1, keepdim=True).log_().add_(peak)


def _offset(space: Discrete, theta: Tensor) -> Tensor:
    level = torch.arange(space.levels, dtype=theta.dtype, device=theta.device)
    return level - theta.unsqueeze(-1)


class LocalMove:
    """One coordinate takes another level, in proportion to g(t) over all of them; t is the ratio.

    Args:
        function: g. The square root, with the gradient's ratios, gives the proposal of Gibbs with gradients.
        needs_gradient: whether the ratios are the gradient's; otherwise the state has exact `DIFFERENCES`.
    """

    def __init__(self, function: BalancingFunction = square_root, needs_gradient: bool = True) -> None:
        self.function, self.needs_gradient = function, needs_gradient

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        discrete = level_space("a local move", space)
        scores = self._scores(discrete, state, beta)
        weights, log_total = relative_weights(scores)
        place = draw_place(weights, generator)
        log_prob = (scores.gather(-1, place) - log_total).squeeze(-1)
        if isinstance(discrete, Binary):
            flipped = 1.0 - state.theta.gather(-1, place)
            return state.theta.scatter(-1, place, flipped), log_prob
        coordinate = torch.div(place, discrete.levels, rounding_mode="floor")
        levels = discrete.to_levels(state.theta).scatter(-1, coordinate, place % discrete.levels)
        return discrete.from_levels(levels, state.theta.dtype), log_prob

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        discrete = level_space("a local move", space)
        scores = self._scores(discrete, source, beta)
        if isinstance(discrete, Binary):
            flip = (destination - source.theta).abs_()
            # One term is not zero, so that the sum is that term.
            chosen = (scores * flip).sum(-1) - scores.logsumexp(-1)
            return chosen.masked_fill(flip.sum(-1) != 1, -torch.inf)
        old, new = discrete.to_levels(source.theta), discrete.to_levels(destination)
        coordinate = (old != new).to(torch.int8).argmax(-1, keepdim=True)
        place = coordinate * discrete.levels + new.gather(-1, coordinate)
        chosen = scores.gather(-1, place).squeeze(-1) - scores.logsumexp(-1)
        return chosen.masked_fill((old != new).sum(-1) != 1, -torch.inf)

    def _scores(self, space: Discrete, state: State, beta: Tensor) -> Tensor:
        """log g of every move: ``(*batch, d)`` on bits, else ``(*batch, d * levels)``, -inf to stay."""
        scores = self.function(log_ratios(space, state, beta))
        if isinstance(space, Binary):
            return scores
        return scores.masked_fill(present(space, state.theta), -torch.inf).flatten(-2)
