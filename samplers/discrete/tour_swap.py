"""Metropolis on tours: two positions exchange their cities, or a stretch of the tour is reversed."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import Info, Kernel, State, evaluate
from samplers.metropolis_hastings import accepted, jump_length
from samplers.proposals.draws.places import whole_numbers
from targets.checks import one_of
from targets.randomness import Generator, uniform
from targets.target import Target
from targets.tours.tour_space import HasTours

MOVES = ("swap", "reverse", "both")


class TourSwap(Kernel):
    """Metropolis with a symmetric proposal that leads from tours to tours; exact, one evaluation a step.

    Two positions i < j are drawn uniformly. A swap exchanges their cities; a reversal (2-opt) reverses
    the tour from i to j. Each move is its own inverse and as likely from either end, so that the
    proposal is symmetric. A city moves with its whole code, in bits or one-hot.

    Spaces: tours.
    Cost: one evaluation.
    Source: EDLP, section 6.2.

    Args:
        moves: ``swap``, ``reverse``, or ``both``: one or the other with probability 1/2.
    """

    exact = True

    def __init__(self, moves: str = "both") -> None:
        self.moves = one_of("moves", moves, MOVES)

    def check(self, target: Target) -> None:
        _positions(target)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        _positions(target)
        return evaluate(target, theta, gradient=False)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        n, batch = _positions(target), state.log_prob.shape
        draws = uniform(generator, batch, (3,), like=state.theta)
        one = whole_numbers(draws[..., 0], n)
        other = (one + 1 + whole_numbers(draws[..., 1], n - 1)) % n
        first, last = torch.minimum(one, other), torch.maximum(one, other)
        reverse = draws[..., 2] < {"swap": 0.0, "reverse": 1.0, "both": 0.5}[self.moves]
        proposed = evaluate(target, _moved(state.theta, n, first, last, reverse), gradient=False)
        log_acceptance = _log_acceptance(state, proposed, beta)
        after, acceptance = accepted(log_acceptance, proposed, state, generator)
        jump = jump_length(target.space, state.theta, after.theta)
        return after, Info(acceptance=acceptance, jump=jump, evaluations=1)

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination) of one step, ``(*batch)``: the sum over all moves that lead there."""
        n, batch = _positions(target), source.log_prob.shape
        event = tuple(range(len(batch), destination.dim()))
        kinds = {"swap": (False,), "reverse": (True,), "both": (False, True)}[self.moves]
        share = 2.0 / (n * (n - 1) * len(kinds))
        arrives = torch.zeros_like(source.log_prob)
        stays = torch.ones_like(source.log_prob)
        for first, last in torch.combinations(torch.arange(n, device=destination.device)):
            for kind in kinds:
                reverse = torch.full((), kind, device=destination.device)
                theta = _moved(source.theta, n, *(at.expand(batch) for at in (first, last, reverse)))
                proposed = evaluate(target, theta, gradient=False)
                chance = share * _log_acceptance(source, proposed, beta).exp()
                arrives += chance * (theta == destination).all(event)
                stays -= chance
        arrives += stays * (source.theta == destination).all(event)
        return arrives.clamp_(min=0.0).log()


def _log_acceptance(source: State, destination: State, beta: Tensor) -> Tensor:
    """log min(1, exp{beta [U(y) - U(x)]}), ``(*batch)``."""
    return tempered_log_ratio(source.log_prob, destination.log_prob, beta).clamp(max=0.0)


def _moved(theta: Tensor, n: int, first: Tensor, last: Tensor, reverse: Tensor) -> Tensor:
    """`theta` after a move between the positions `first` < `last`, all ``(*batch)``; like theta."""
    batch = first.shape
    rows = theta.reshape(*batch, n, -1)
    place = torch.arange(n, device=theta.device)
    low, high = first.unsqueeze(-1), last.unsqueeze(-1)
    mirrored = torch.where((place >= low) & (place <= high), low + high - place, place)
    exchanged = torch.where((place == low) | (place == high), low + high - place, place)
    order = torch.where(reverse.unsqueeze(-1), mirrored, exchanged)
    return rows.gather(-2, order.unsqueeze(-1).expand_as(rows)).reshape(theta.shape)


def _positions(target: Target) -> int:
    """How many positions the states of `target` have, each a block of the same width.

    Raises:
        ValueError: if its states are no tours.
    """
    if isinstance(target, HasTours):
        return target.cities
    raise ValueError(
        f"tour_swap needs a target whose states are tours, such as tsp, {type(target).__name__} was given"
    )
