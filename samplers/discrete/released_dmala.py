"""DMALA as the released code of PT-DLP steps it, with its two defects; not exact, kept to be measured."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from samplers.discrete.dmala import DMALA
from samplers.kernel import State
from targets.spaces import Space


class ReleasedDMALA(DMALA):
    """DMALA with the acceptance of the released PT-DLP (`PTDLP/synthetic_problems/samplers.py:97-118`).

    Its ratio is U(y) - U(x) + log q'(x | y) - log q(y | x): the energies are not tempered, and in q' the
    gradient, which carries beta / 2 already, is scaled by it once more (settings I, rows 5 and 6). Even a
    single chain misses the target.

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

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        again = replace(destination, grad=self.proposal.drift(destination, beta))
        reverse = self.proposal.log_prob(space, again, source.theta, beta)
        ratio = destination.log_prob - source.log_prob + reverse - forward
        return ratio.clamp(max=0.0)
