"""Theory of ReLD: Langevin diffusion on two modes, and the levels and speeds of mReLD from Corollary 2."""

from __future__ import annotations

import math
from dataclasses import dataclass

from metrics.diffusion.langevin_generator import Level
from samplers.hyperparameters import positive
from targets.checks import one_of, whole_number, within

SCENARIOS = ("geometric", "synchronised", "log_geometric")


@dataclass(frozen=True)
class Choice:
    """K + 1 levels and their swaps.

    Attributes:
        levels: from the target to the hottest, which has the Gaussian term.
        rho: intensity of the swaps between neighbours.
        exponent: the corollary's claim is kappa = O(l ** exponent).
    """

    levels: tuple[Level, ...]
    rho: float
    exponent: float


def mreld_choice(
    scenario: str,
    length: float,
    d: int,
    extra: int,
    scale: float = 1.0,
    alpha: float = 0.0,
) -> Choice:
    """Corollary 2: pi_k proportional to pi^beta_k, and pi_K to pi^beta_K phi(x / M).

    - ``geometric`` (1): beta_k = l^(2k/K) and tau_k = rho = l^(-2 alpha - d/K), so kappa = O(l^(2 alpha)).
      The paper prints -alpha - d/K, which by its own Theorem 3 gives O(l^alpha) only; alpha = 0, the choice
      of Theorem 1, is the same in both.
    - ``synchronised`` (2), d <= 2: tau_k = 1 / beta_k = l^(-2k/K), rho = l^(-d/K), kappa = O(1).
    - ``log_geometric`` (3), d >= 3: tau_k = 1 / beta_k = l^(-2 ((d-2)/d)^(K-k)), rho = l^-2, and
      kappa = O(l^(-d ((d-2)/d)^(K-1))).

    Args:
        scenario: which of the three.
        length: l, the smallest width of a component, epsilon of a singular mixture, in (0, 1).
        d: dimension.
        extra: K, the levels besides the target's own.
        scale: M, of the order of the largest distance of a mode from 0.
        alpha: in [0, 1]; of the first scenario only.

    Raises:
        ValueError: for a setting out of range, or a dimension that the scenario excludes.
    """
    one_of("choice", scenario, SCENARIOS)
    whole_number("levels", extra)
    whole_number("d", d)
    positive("scale", scale)
    within("alpha", alpha, 0.0, 1.0)
    if not 0.0 < length < 1.0:
        raise ValueError(f"length must be a number between 0 and 1, {length!r} was given")
    if (scenario == "synchronised" and d > 2) or (scenario == "log_geometric" and d < 3):
        allowed = "at most 2" if scenario == "synchronised" else "at least 3"
        raise ValueError(f"choice={scenario} is for dimensions of {allowed}, {d} was given")
    steps = range(1, extra + 1)
    if scenario == "log_geometric":
        ratio = (d - 2) / d
        powers = [2.0 * ratio ** (extra - k) for k in steps]
        rho, exponent = length**-2, -d * ratio ** (extra - 1)
    else:
        powers = [2.0 * k / extra for k in steps]
        rho, exponent = length ** (-d / extra), 0.0
    taus = [length**-power for power in powers]
    if scenario == "geometric":
        rho, exponent = length ** (-2.0 * alpha - d / extra), 2.0 * alpha
        taus = [rho] * extra
    scales = [math.inf] * (extra - 1) + [scale]
    hot = [Level(length**power, tau, m) for power, tau, m in zip(powers, taus, scales, strict=True)]
    return Choice((Level(), *hot), rho, exponent)


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
    whole_number("d", d)
