"""The discrete Langevin proposal along exact differences instead of a gradient (Xiang et al. 2023)."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.kernel import State
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.proposals.local_moves import DIFFERENCES
from targets.target import Target


class NewtonLangevin(LangevinProposal):
    """`LangevinProposal` with the drift of the multilinear extension of U, Newton's series of first order.

    It is computed from the exact `DIFFERENCES` of the state, on binary and categorical spaces.
    """

    needs_gradient = False

    def tabulated(self, target: Target, beta: Tensor) -> None:
        """None: tables are made of gradients."""
        return None

    def drift(self, state: State, beta: Tensor) -> Tensor:
        differences = state.aux[DIFFERENCES]
        trailing = differences.dim() - state.log_prob.dim()
        scale = torch.as_tensor(self.balancing * beta).to(differences)
        drift = differences * scale.reshape(scale.shape + (1,) * trailing)
        # A flip from 1 to 0 goes against the slope.
        return drift if trailing > 1 else drift.mul_(torch.rsub(state.theta, 1.0, alpha=2.0))
