"""DMALA as the released code of PT-DLP steps it, with its two defects; not exact, kept to be measured."""

from __future__ import annotations

from torch import Tensor

from samplers.discrete.dmala import DMALA
from samplers.kernel import Kernel, State
from samplers.proposals.discrete_langevin import LangevinProposal
from targets.spaces import Space, level_space
from targets.target import Target


class ReleasedDMALA(DMALA):
    """DMALA with the acceptance of the released PT-DLP (`PTDLP/synthetic_problems/samplers.py:97-118`).

    Its ratio is U(y) - U(x) + log q'(x | y) - log q(y | x): the energies are not tempered, and in q' the
    gradient, which carries beta / 2 already, is scaled by it once more (settings I, rows 5 and 6). Even a
    single chain is biased.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: the released code of PT-DLP.

    Args:
        step_size: alpha in squared state units; the code has (0.4 x 101)^4 on its grid.
        balancing: b in the proposal; the code has 1/2.
        norm: p of the regulariser; the code has 2.
    """

    exact = False

    def __init__(self, step_size: float | Tensor, balancing: float = 0.5, norm: float = 2.0) -> None:
        super().__init__(step_size, balancing, norm)
        self.reverse = self.proposal

    def check(self, target: Target) -> None:
        level_space("released_dmala", target.space)

    def prepared(self, target: Target, beta: Tensor) -> Kernel:
        assert isinstance(self.proposal, LangevinProposal)
        forward = self.proposal.tabulated(target, beta)
        reverse = self.proposal.tabulated(target, self._again(beta))
        if forward is None or reverse is None:
            return self
        return self.prepared_copy(target, proposal=forward, reverse=reverse)

    def _again(self, beta: Tensor) -> Tensor:
        """The inverse temperature whose drift is b beta times that of `beta`."""
        return self.balancing * beta.square()

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        reverse = self.reverse.log_prob(space, destination, source.theta, self._again(beta))
        ratio = destination.log_prob - source.log_prob + reverse - forward
        return ratio.clamp(max=0.0)
