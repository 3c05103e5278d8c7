"""DMALA as the released code of EDLP steps tours: each position is decided by itself; not exact."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.discrete.dmala import DMALA
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import Info, State
from samplers.positionwise import by_position, decided, require_positions
from samplers.proposals.discrete_langevin import LangevinProposal
from targets.checks import whole_number
from targets.randomness import Generator
from targets.spaces import Binary
from targets.target import Target


class PositionwiseDMALA(DMALA):
    """DMALA whose positions, of `width` bits each, are accepted or rejected one by one.

    The ratio of a position is that of the U of the whole proposal and of the proposal probabilities of its
    own bits (`EDLP/samplers.py`, LangevinSamplerTSP; settings E.2). What is mixed in this way has another U,
    which no ratio contains: kept to be measured. A mixture of density zero is dropped.

    Spaces: binary.
    Cost: two gradients.
    Source: the released code of EDLP.

    Args:
        step_size: alpha in squared state units.
        width: bits of a position; the code has 3.
    """

    exact = False

    def __init__(self, step_size: float | Tensor, width: int = 3) -> None:
        super().__init__(step_size)
        self.width = whole_number("width", width, 1)
        # The same proposal, of states whose last batch axis is the position.
        self.of_position = LangevinProposal(self.step_size.unsqueeze(-1))

    def check(self, target: Target) -> None:
        require_positions("positionwise_dmala", target.space, self.width)

    def log_acceptances(self, source: State, destination: State, beta: Tensor) -> Tensor:
        """log min(1, ratio) of each position, ``(*batch, positions)``."""
        here, there = by_position(source, self.width), by_position(destination, self.width)
        space, own = Binary(self.width), beta.unsqueeze(-1)
        forward = self.of_position.log_prob(space, here, there.theta, own)
        reverse = self.of_position.log_prob(space, there, here.theta, own)
        ratio = tempered_log_ratio(source.log_prob, destination.log_prob, beta).unsqueeze(-1)
        return (ratio + reverse - forward).clamp(max=0.0)

    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination), ``(*batch)``, by all proposals and all sets of positions that move.

        The acceptance of a whole move, which enumeration reads of other kernels, does not describe it.
        """
        space = target.space
        assert isinstance(space, Binary)
        total = torch.zeros_like(source.log_prob)
        for theta in space.states(source.theta.dtype):
            proposed = self.evaluated(target, theta.expand_as(source.theta).contiguous())
            chance = self.proposal.log_prob(space, source, proposed.theta, beta).exp()
            accepts = self.log_acceptances(source, proposed, beta).exp()
            for moves in Binary(space.d // self.width).states(source.theta.dtype):
                share = chance * (moves * accepts + (1.0 - moves) * (1.0 - accepts)).prod(-1)
                moved = moves.bool().repeat_interleave(self.width)
                mixed = torch.where(moved, proposed.theta, source.theta)
                dropped = target.log_prob(mixed).isneginf().unsqueeze(-1)
                arrives = torch.where(dropped, source.theta, mixed) == destination
                total += share * arrives.all(-1)
        return total.log()

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        theta, _ = self.proposal.propose(target.space, state, beta, generator)
        proposed = self.evaluated(target, theta)
        acceptance = self.log_acceptances(state, proposed, beta).exp()
        return decided(target, state, proposed, acceptance, self.width, generator)
