"""Levels and speeds of mReLD for a mixture of log-concave densities, from Corollary 2 of ReLD."""

from __future__ import annotations

import math
from dataclasses import dataclass

from metrics.diffusion.langevin_generator import Level
from samplers.hyperparameters import count, one_of, positive, within

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
    count("levels", extra)
    count("d", d)
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
