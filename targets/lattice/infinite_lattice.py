"""Exact results for the Ising model with one coupling J > 0 and no field on the infinite square lattice.

A large periodic lattice differs little from it, but near the transition.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol, runtime_checkable

from targets.target import Target


class InfiniteLattice(NamedTuple):
    """What is known of the infinite lattice, per site.

    Attributes:
        log_partition: log Z, in nats.
        energy: the mean of U, in nats.
        magnetisation: the spontaneous magnetisation, from 0 to 1.
    """

    log_partition: float
    energy: float
    magnetisation: float


@runtime_checkable
class HasInfiniteLattice(Protocol):
    """A target on a lattice of whose infinite counterpart exact values may be known."""

    def infinite_lattice(self) -> InfiniteLattice | None:
        """The values per site of the same model on the infinite lattice; None where they are not known."""


def known_infinite_lattice(target: Target) -> InfiniteLattice | None:
    """The values of the infinite lattice, if `target` has one and they are known."""
    return target.infinite_lattice() if isinstance(target, HasInfiniteLattice) else None


def infinite_square_lattice(coupling: float) -> InfiniteLattice:
    """log Z, the mean of U and the spontaneous magnetisation at the coupling J > 0."""
    return InfiniteLattice(
        onsager_log_partition(coupling), onsager_energy(coupling), spontaneous_magnetisation(coupling)
    )


def onsager_log_partition(coupling: float) -> float:
    """log Z per site, to about 1e-10.

    Source: Onsager (1944), Eq. 106: ln(2 cosh 2J) + 1/(2 pi) int_0^pi ln{[1 + sqrt(1 - k^2 sin^2 w)] / 2} dw
    with k = 2 sinh 2J / cosh^2 2J.
    """
    from scipy.integrate import quad

    modulus = _modulus(coupling)

    def integrand(angle: float) -> float:
        return math.log(0.5 * (1.0 + math.sqrt(max(0.0, 1.0 - (modulus * math.sin(angle)) ** 2))))

    integral, _ = quad(integrand, 0.0, 0.5 * math.pi, epsabs=1e-13)
    return _log_twice_cosh(2.0 * coupling) + float(integral) / math.pi


def onsager_energy(coupling: float) -> float:
    """Mean of U per site, the derivative of log Z by ln J.

    It is J coth 2J {1 + 2/pi (2 tanh^2 2J - 1) K(k)}, with K the complete elliptic integral and k as in
    `onsager_log_partition`.

    Source: Onsager (1944), the internal energy that follows from Eq. 106.
    """
    from scipy.special import ellipkm1

    tanh = math.tanh(2.0 * coupling)
    # 1 - k^2 = (2 tanh^2 2J - 1)^2; where it is 0, at the transition, K is infinite and its factor 0.
    factor = 2.0 * tanh**2 - 1.0
    singular = factor * float(ellipkm1(factor**2)) if factor else 0.0
    return coupling / tanh * (1.0 + 2.0 / math.pi * singular)


def spontaneous_magnetisation(coupling: float) -> float:
    """Mean absolute magnetisation per site: (1 - sinh(2J)^-4)^(1/8), or 0 where that is not real.

    Source: Yang (1952), Eq. 96.
    """
    # Beyond 2J = 100 it is 1 to the last digit, and the hyperbolic sine overflows at 710.
    sine = math.sinh(min(2.0 * coupling, 100.0))
    return (1.0 - sine**-4) ** 0.125 if sine > 1.0 else 0.0


def _modulus(coupling: float) -> float:
    """k = 2 sinh 2J / cosh^2 2J = 2 tanh 2J / cosh 2J, without overflow."""
    return 2.0 * math.tanh(2.0 * coupling) / math.cosh(min(2.0 * coupling, 700.0))


def _log_twice_cosh(x: float) -> float:
    """ln(2 cosh x) for x >= 0, without overflow."""
    return x + math.log1p(math.exp(-2.0 * x))
