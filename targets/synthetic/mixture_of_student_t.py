"""The synthetic mixture of Student-t densities of PT-DLP (Tables 1, 4 and 5), with three choices of U."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from targets.checks import one_of
from targets.synthetic.centres import COMPONENTS, centres_inside, lattice, released
from targets.synthetic.grid_mixture import ENERGIES, Bump, GridMixture


@dataclass(frozen=True)
class StudentDensity:
    """Log density of a two-dimensional Student-t with 2 degrees of freedom and the given `scale`.

    The exponent is -(nu + 2) / 2 = -2 and the normalising constant 1 / (2 pi scale^2).
    """

    scale: float

    def __call__(self, distance: Tensor) -> Tensor:
        tail = -2.0 * ((distance / self.scale).square() / 2).log1p()
        return tail - math.log(2 * math.pi * self.scale**2)


@dataclass(frozen=True)
class ReleasedStudentBump:
    """Log of (1 + r^2 / 2)^(-3/2) / sqrt(2 pi): a one-dimensional t density in the distance."""

    def __call__(self, distance: Tensor) -> Tensor:
        return -1.5 * (distance.square() / 2).log1p() - 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class ReleasedLatticeBump:
    """Log of (1 + r^2 / 0.8)^(-2): the bump of the released code for 16 components only."""

    def __call__(self, distance: Tensor) -> Tensor:
        return -2.0 * (distance.square() / 0.8).log1p()


class MixtureOfStudentT(GridMixture):
    """A mixture of Student-t densities with 2 degrees of freedom and equal weights on the 101 x 101 grid.

    With u = 3 i / 100 - 1.5 on each axis, r_k the distance from u to centre k and M centres, `energy` says
    what U is (settings A.1 and A.4):

    - ``paper``: the log density of the mixture of PT-DLP F.1, U = log (1/M) sum_k t_2(u; mu_k, 0.05^2 I),
      a t in two dimensions with exponent -(nu + 2) / 2 = -2. The centres are those of the mixture of
      Gaussians, all inside the square and at least 12 scales apart. `responsibilities` is the posterior
      p(k | u).
    - ``released``: the energy of the released code, U = (1/M) sum_k
      (1 + r_k^2 / 2)^(-3/2) / sqrt(2 pi) up to 14 components, with its centres, some of them outside the
      square; for 16 the lattice and U = sum_k (1 + r_k^2 / 0.8)^(-2), summed and not averaged. Its constant
      1e-10, which changes no probability, is left out.
    - ``log``: the log of the released bump sum, with the centres of ``paper``. Still nearly flat, because
      the unit scale is wide on this square.

    For ``log`` and ``released`` the responsibilities are those of the released metric: a t kernel with 2
    degrees of freedom, unit scale and exponent -2 around each centre (A.3, row EMC; this exponent gives the
    reference values 0.865 and 1.000 given there, -3/2 does not). They are nearly equal everywhere.

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
            super().__init__(centres, StudentDensity(0.05), log_weight=log_weight, logarithm=True)
            return
        bump: Bump = ReleasedStudentBump()
        centres = released(components) if energy == "released" else centres_inside(components)
        log_weight = -math.log(components)
        if components == 16:
            bump, centres, log_weight = ReleasedLatticeBump(), lattice(), 0.0
        super().__init__(
            centres,
            bump,
            log_weight=log_weight,
            logarithm=energy == "log",
            kernel=StudentDensity(1.0),
        )
