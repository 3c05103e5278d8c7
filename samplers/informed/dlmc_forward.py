"""DLMC with an Euler step in the place of the interpolation (Sun et al. 2023)."""

from __future__ import annotations

from samplers.informed.dlmc import DLMC
from samplers.proposals.jump_process import Solver, euler_forward


class DLMCForward(DLMC):
    """Metropolis-Hastings with an Euler step of each coordinate's jump process; exact.

    q(y_i = v) = min{h g(t_v), nu_v} for the levels v that it does not have, t_v and nu as in
    `samplers.informed.dlmc.DLMC`; without the minimum the probabilities of a long step would not be any.
    DISCS has the minimum for bits only.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: Sun et al. (2023), with the solver ``euler_forward`` of DISCS (section 4.1 of its paper: DLMCf).

    Args:
        step_size, balancing_function, differences: as those of `DLMC`.
    """

    @property
    def solver(self) -> Solver:
        """How the jump process is solved."""
        return euler_forward
