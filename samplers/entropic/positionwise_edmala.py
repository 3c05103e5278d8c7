"""EDMALA as the released code of EDLP steps tours: each position is decided by itself; not exact."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from samplers.entropic.edmala import EDMALA
from samplers.inverse_temperatures import tempered_log_ratio
from samplers.kernel import Info, State, evaluate
from samplers.positionwise import by_position, decided, require_positions
from samplers.proposals.entropic_langevin import THETA_A, EntropicLangevin
from targets.checks import whole_number
from targets.randomness import Generator
from targets.spaces import Binary
from targets.target import Target


class PositionwiseEDMALA(EDMALA):
    """EDMALA whose positions, of `width` bits each, are accepted or rejected one by one.

    The ratio of a position is that of the U of the whole proposal, of the proposal probabilities of its own
    bits and of its own part of theta_a, which moves with it (`EDLP/samplers.py`, ELangevinSamplerTSP;
    settings E.2). What is mixed in this way has another U, which no ratio contains: kept to be measured. A
    mixture of density zero is dropped, with its theta_a.

    Spaces: binary.
    Cost: two gradients.
    Source: the released code of EDLP.

    Args:
        step_size, eta, auxiliary_step_size: as those of `EDMALA`.
        width: bits of a position; the code has 3.
    """

    exact = False

    def __init__(
        self, step_size: float | Tensor, eta: float = 2.0, auxiliary_step_size: float = 0.01, width: int = 3
    ) -> None:
        super().__init__(step_size, eta, auxiliary_step_size)
        self.width = whole_number("width", width, 1)
        # The same moves, of states whose last batch axis is the position.
        self.of_position = EntropicLangevin(self.step_size.unsqueeze(-1), eta, auxiliary_step_size)

    def check(self, target: Target) -> None:
        require_positions("positionwise_edmala", target.space, self.width)

    def log_acceptances(self, source: State, destination: State, beta: Tensor) -> Tensor:
        """log min(1, ratio) of each position, ``(*batch, positions)``."""
        here, there = by_position(source, self.width), by_position(destination, self.width)
        before, after = (state.theta - state.aux[THETA_A] for state in (here, there))
        space, own = Binary(self.width), beta.unsqueeze(-1)
        forward = self.of_position.log_prob(space, here, before, there.theta, own)
        reverse = self.of_position.log_prob(space, there, after, here.theta, own)
        move, batch = there.theta - here.theta, here.log_prob.dim()
        coupling = self.of_position.log_joint_ratio(move, before, after, batch)
        ratio = tempered_log_ratio(source.log_prob, destination.log_prob, beta).unsqueeze(-1)
        return (ratio + coupling + reverse - forward).clamp(max=0.0)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        gap, batch = state.theta - state.aux[THETA_A], state.log_prob.shape
        theta, _ = self.proposal.propose(target.space, state, gap, beta, generator)
        theta_a = self.proposal.move_auxiliary(state.aux[THETA_A], gap, batch, generator)
        proposed = replace(evaluate(target, theta, gradient=True), aux={THETA_A: theta_a})
        acceptance = self.log_acceptances(state, proposed, beta).exp()
        return decided(target, state, proposed, acceptance, self.width, generator)
