"""Theory for Langevin diffusion on two modes: the bound of ReLD's Proposition 1 and the exact asymptotics."""

from __future__ import annotations

import math

from samplers.hyperparameters import count, positive


def proposition_1(epsilon: float, distance: float = 2.0, d: int = 1) -> float:
    """log of the lower bound on kappa: eps^4 / (80 |m|^2) exp(|m|^2 / (64 eps^2)) (ReLD, Proposition 1).

    The statement has a minus sign in the exponent; its proof and its text have a plus sign.

    Args:
        epsilon: standard deviation of each of two equal Gaussians.
        distance: |m|, between their means.
        d: dimension.

    Raises:
        ValueError: unless epsilon <= |m| / (16 sqrt(d)), as the proposition requires.
    """
    _check(epsilon, distance, d)
    largest = distance / (16.0 * math.sqrt(d))
    if epsilon > largest * (1.0 + 1e-12):
        raise ValueError(f"Proposition 1 needs a length of at most {largest:g}, {epsilon!r} was given")
    return 4.0 * math.log(epsilon) - math.log(80.0 * distance**2) + distance**2 / (64.0 * epsilon**2)


def small_epsilon_limit(epsilon: float, distance: float = 2.0, d: int = 1) -> float:
    """log of the limit of kappa as epsilon tends to 0: (1/4) int dx / pi(x) across the barrier.

    Near the middle pi is cosh(|m| x / (2 eps^2)) times a constant, so the limit is
    sqrt(2 pi) pi eps^3 / (2 |m|) exp(|m|^2 / (8 eps^2)), whatever the dimension: the target is a product.
    """
    _check(epsilon, distance, d)
    front = math.log(math.sqrt(2.0 * math.pi) * math.pi / (2.0 * distance))
    return front + 3.0 * math.log(epsilon) + distance**2 / (8.0 * epsilon**2)


def _check(epsilon: float, distance: float, d: int) -> None:
    positive("length", epsilon)
    positive("distance", distance)
    count("d", d)
