"""GWG: Gibbs with gradients (Grathwohl et al. 2021), one coordinate a step, chosen by one gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.metropolis_hastings import MetropolisHastings
from samplers.proposals.draws import draw_place
from targets.randomness import Generator
from targets.spaces import Binary, Categorical, Discrete, Space, level_space
from targets.target import Target


class GradientChoice:
    """One coordinate takes another level, chosen in proportion to exp{beta dU / 2} over all of them.

    dU is the first-order change of U (Grathwohl et al. 2021, Eqs. 3, 4): (1 - 2 x_i) dU_i on bits,
    dU_i (y - x_i) on ordinal levels, dU_iy - dU_ix on one-hot ones. The half makes it locally balanced.
    """

    needs_gradient = True

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        discrete = level_space("gwg", space)
        scores = self._scores(discrete, state, beta)
        place = draw_place((scores - scores.amax(-1, keepdim=True)).exp_(), generator)
        log_prob = scores.gather(-1, place).squeeze(-1) - scores.logsumexp(-1)
        if isinstance(discrete, Binary):
            flip = torch.zeros_like(state.theta).scatter_(-1, place, 1.0)
            return (state.theta - flip).abs_(), log_prob
        coordinate = torch.div(place, discrete.levels, rounding_mode="floor")
        levels = discrete.to_levels(state.theta).scatter(-1, coordinate, place % discrete.levels)
        return discrete.from_levels(levels, state.theta.dtype), log_prob

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        discrete = level_space("gwg", space)
        scores = self._scores(discrete, source, beta)
        old, new = discrete.to_levels(source.theta), discrete.to_levels(destination)
        coordinate = (old != new).to(torch.int8).argmax(-1, keepdim=True)
        place = coordinate
        if not isinstance(discrete, Binary):
            place = coordinate * discrete.levels + new.gather(-1, coordinate)
        chosen = scores.gather(-1, place).squeeze(-1) - scores.logsumexp(-1)
        return chosen.masked_fill((old != new).sum(-1) != 1, -torch.inf)

    def _scores(self, space: Discrete, state: State, beta: Tensor) -> Tensor:
        """beta dU / 2 of every move: ``(*batch, d)`` on bits, else ``(*batch, d * levels)``, -inf to stay."""
        assert state.grad is not None
        half = torch.as_tensor(0.5 * beta).to(state.grad).unsqueeze(-1)
        if isinstance(space, Binary):
            return torch.rsub(state.theta, 1.0, alpha=2.0).mul_(state.grad).mul_(half)
        if isinstance(space, Categorical):
            here = state.theta > 0
            rise = state.grad - (state.grad * state.theta).sum(-1, keepdim=True)
        else:
            level = torch.arange(space.levels, dtype=state.theta.dtype, device=state.theta.device)
            offset = level - state.theta.unsqueeze(-1)
            here, rise = offset == 0, state.grad.unsqueeze(-1) * offset
        return (rise * half.unsqueeze(-1)).masked_fill_(here, -torch.inf).flatten(-2)


class GWG(MetropolisHastings):
    """Metropolis-Hastings with `GradientChoice`; exact, one gradient a step, one coordinate at most.

    GWG-1 of EDLP (experiments E.5).

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: Grathwohl et al. (2021), Eqs. 3 and 4.
    """

    def __init__(self) -> None:
        super().__init__(GradientChoice())

    def check(self, target: Target) -> None:
        level_space("gwg", target.space)
