"""The synthetic mixture of Gaussians of PT-DLP (Tables 1, 4 and 5, Figure 2), with three choices of U."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from targets.checks import one_of
from targets.synthetic.centres import COMPONENTS, centres_inside, released, ring
from targets.synthetic.grid_mixture import ENERGIES, GridMixture

_RELEASED_WIDTH = {2: 1.6, 4: 1.2, 6: 0.06, 8: 0.08, 10: 0.4, 12: 0.36, 14: 0.28, 16: 0.096}
"""Width of the released bump: its variance argument times the number of centres, which is 8 for "16"."""


@dataclass(frozen=True)
class GaussianDensity:
    """Log density of an isotropic Gaussian in two dimensions with standard deviation `sd`."""

    sd: float

    def __call__(self, distance: Tensor) -> Tensor:
        return -0.5 * (distance / self.sd).square() - math.log(2 * math.pi * self.sd**2)


@dataclass(frozen=True)
class ExponentialBump:
    """Log of exp(-distance / width): the bump of the released code, whose distance is not squared."""

    width: float

    def __call__(self, distance: Tensor) -> Tensor:
        return -distance / self.width


class MixtureOfGaussians(GridMixture):
    """A mixture of Gaussians with equal weights on the 101 x 101 grid.

    With u = 3 i / 100 - 1.5 on each axis, r_k the distance from u to centre k and M centres, `energy` says
    what U is (settings A.1 and A.4):

    - ``paper``: the log density of the mixture of PT-DLP F.1, U = log (1/M) sum_k N(u; mu_k, 0.1^2 I).
      The centres lie inside the square: one ring of radius 1 up to 8 components; for 10, 12 and 14 eight at
      radius 1.2 and the rest at radius 0.6; the 4 x 4 lattice for 16. Neighbouring modes are at least 6
      standard deviations apart. `responsibilities` is the posterior p(k | u).
    - ``released``: the energy of the released code, U = sum_k exp(-r_k / w), with its widths w and its
      centres, some of them outside the square and only 8 of them for 16 components. This distribution is
      nearly uniform. The code's division by the largest coordinate of the batch is replaced by a division
      by 100, and its constant 1e-10, which changes no probability, is left out.
    - ``log``: U = log sum_k exp(-r_k / w) with the released widths and the centres of ``paper``. The
      width that A.1 gives for 16 components, 0.096, is kept with all 16 centres.

    For ``log`` and ``released`` the responsibilities are those of the released metric: a Gaussian kernel of
    variance 0.05 around each centre (A.3, row EMC), here around this target's own centres.

    Spaces: ordinal.
    Source: PT-DLP, appendix F.1.

    Args:
        components: number of components, one of 2, 4, .., 16.
        energy: ``paper``, ``log`` or ``released``.

    Raises:
        ValueError: if `components` or `energy` is none of these.
    """

    def __init__(self, components: int = 8, energy: str = "paper") -> None:
        one_of("components", components, COMPONENTS)
        one_of("energy", energy, ENERGIES)
        if energy == "paper":
            centres = centres_inside(components)
            log_weight = -math.log(len(centres))
            super().__init__(centres, GaussianDensity(0.1), log_weight=log_weight, logarithm=True)
            return
        if energy == "log":
            centres = centres_inside(components)
        else:
            centres = ring(8) if components == 16 else released(components)
        super().__init__(
            centres,
            ExponentialBump(_RELEASED_WIDTH[components]),
            log_weight=0.0,
            logarithm=energy == "log",
            kernel=GaussianDensity(math.sqrt(0.05)),
        )
