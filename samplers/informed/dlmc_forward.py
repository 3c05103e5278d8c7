"""DLMC with an Euler step in the place of the interpolation (Sun et al. 2023b)."""

from __future__ import annotations

from samplers.informed.dlmc import DLMC
from samplers.proposals.jump_process import Solver, euler_forward


class DLMCForward(DLMC):
    """Metropolis-Hastings with an Euler step of each coordinate's jump process; exact.

    q(y_i = v) = min{h g(t_v), nu_v} for the levels v that it does not have, t_v and nu as in
    `samplers.informed.dlmc.DLMC`; without the minimum they would not be probabilities for large h.
    DISCS has the minimum for bits only.

    Spaces: binary, ordinal, categorical.
    Cost: one gradient.
    Source: Sun et al. (2023b), with the solver ``euler_forward`` of DISCS (Goshvadi et al. 2023, section
        4.1: DLMCf).

    Args:
        step_size, balancing_function, differences: as those of `DLMC`.
    """

    @property
    def solver(self) -> Solver:
        """How the jump process is solved."""
        return euler_forward
