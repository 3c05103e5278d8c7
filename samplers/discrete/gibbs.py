"""Gibbs sampling: one coordinate a step, drawn from its conditional."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State, evaluate
from samplers.proposals.draws.places import draw_place, whole_numbers
from targets.checks import one_of
from targets.randomness import Generator, uniform
from targets.spaces import discrete_space
from targets.target import Target


class Gibbs(Kernel):
    """Draws one coordinate a step from its conditional under exp(beta * log_prob); exact.

    A step evaluates the target at every level of the coordinate, so it costs ``levels`` evaluations, and
    the new state's log density is among them.

    Spaces: binary, ordinal, categorical, tours.
    Cost: one evaluation for each level of a coordinate.
    Source: Geman and Geman (1984).

    Args:
        scan: ``"random"``, where every chain picks its coordinate uniformly, or ``"systematic"``, where
            all go through the coordinates in turn and ``State.aux["position"]``, an int64 scalar, says
            where they are.
    """

    exact = True

    def __init__(self, scan: str = "random") -> None:
        self.scan = one_of("scan", scan, ("random", "systematic"))

    def check(self, target: Target) -> None:
        discrete_space("gibbs", target.space)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        self.check(target)
        state = evaluate(target, theta, gradient=False)
        if self.scan == "random":
            return state
        return replace(state, aux={"position": torch.zeros((), dtype=torch.int64, device=theta.device)})

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        space = discrete_space("gibbs", target.space)
        aux = state.aux
        if self.scan == "random":
            draw = uniform(generator, state.log_prob.shape, like=state.log_prob)
            coordinate = whole_numbers(draw, space.d)
        else:
            position = state.aux["position"]
            coordinate = position.expand(state.log_prob.shape)
            aux = {"position": (position + 1) % space.d}
        levels = space.to_levels(state.theta)
        log_probs = _line(target, levels, coordinate, state.theta.dtype)
        level = draw_place(tempered_weights(log_probs, beta).softmax(-1), generator)
        theta = space.from_levels(levels.scatter(-1, coordinate.unsqueeze(-1), level), state.theta.dtype)
        after = State(theta, log_probs.gather(-1, level).squeeze(-1), aux=aux)
        info = Info(
            acceptance=certain(log_probs),
            jump=space.hamming(state.theta, theta),
            evaluations=space.levels,
        )
        return after, info

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination) of one step, shape ``(*batch)``, which both states share.

        Random scan: the mixture over the coordinates. Systematic scan: the coordinate at the position that
        `source` stands at. The conditionals are those that `step` draws from.
        """
        space = discrete_space("gibbs", target.space)
        if self.scan == "systematic":
            return _log_conditional(target, source.theta, destination, beta, source.aux["position"])
        coordinates = torch.arange(space.d, device=destination.device)
        terms = [_log_conditional(target, source.theta, destination, beta, at) for at in coordinates]
        return torch.stack(terms).logsumexp(0) - math.log(space.d)


def _log_conditional(
    target: Target, source: Tensor, destination: Tensor, beta: Tensor, position: Tensor
) -> Tensor:
    """log P of redrawing the coordinate `position`; minus infinity where another coordinate differs."""
    space = discrete_space("gibbs", target.space)
    old, new = space.to_levels(source), space.to_levels(destination)
    coordinate = position.expand(old.shape[:-1])
    log_probs = _line(target, old, coordinate, source.dtype)
    conditional = tempered_weights(log_probs, beta).log_softmax(-1)
    at = coordinate.unsqueeze(-1)
    differs = (old != new).scatter(-1, at, False).any(-1)
    return conditional.gather(-1, new.gather(-1, at)).squeeze(-1).masked_fill(differs, -torch.inf)


def tempered_weights(log_probs: Tensor, beta: Tensor) -> Tensor:
    """beta U for `log_probs` ``(*batch, levels)``; states of density zero have none at beta = 0 either.

    Nor have those whose density is NaN: one of them would leave no weight to the others. Where no state has a
    density, as on a line that only a chain with a wrong start can meet, all weigh the same.
    """
    tempered = torch.as_tensor(beta).to(log_probs).unsqueeze(-1) * log_probs
    weights = torch.where(log_probs > -torch.inf, tempered, -torch.inf)
    return weights.masked_fill_((weights == -torch.inf).all(-1, keepdim=True), 0.0)


def certain(log_probs: Tensor) -> Tensor:
    """The acceptance ``(*batch)`` of a draw among `log_probs` ``(*batch, levels)``: 1, NaN where one is."""
    return log_probs.clamp(1.0, 1.0).amax(-1)  # either passes a NaN on


def _line(target: Target, levels: Tensor, coordinate: Tensor, dtype: torch.dtype) -> Tensor:
    """U at every level of `coordinate` ``(*batch)``, the others as in `levels` ``(*batch, d)``.

    Shape ``(*batch, levels)``, from one batched evaluation.
    """
    space = discrete_space("gibbs", target.space)
    value = torch.arange(space.levels, device=levels.device).reshape(-1, *(1,) * levels.dim())
    lines = levels.expand(space.levels, *levels.shape)
    at = coordinate.unsqueeze(-1).expand(space.levels, *coordinate.shape, 1)
    states = lines.scatter(-1, at, value.expand(at.shape))
    return target.log_prob(space.from_levels(states, dtype)).movedim(0, -1)
