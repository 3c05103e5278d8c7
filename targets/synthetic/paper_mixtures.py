"""The Gaussian mixtures of the papers on tempering: the two modes of STMH, the singular mixtures of ReLD."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from targets.checks import positive_number, whole_number
from targets.synthetic.gaussian_mixture import GaussianMixture


def stmh_two_modes(
    distance: float = 10.0,
    d: int = 2,
    start: Sequence[float] | None = None,
    start_scale: float = 1.0,
) -> GaussianMixture:
    """The symmetric mixture of STMH, section 4: 1/2 N(-m, I) + 1/2 N(m, I), m = D / (2 sqrt d) (1, .., 1).

    The paper has d = 2 and writes m = D / (2 sqrt 2) (1, 1). Its f = -log of the same sum without the
    factor (2 pi)^(-d/2); that constant shifts log Z at inverse temperature beta by beta (d/2) log 2 pi.

    Spaces: real.
    Source: STMH, section 4.

    Args:
        distance: D, the distance between the two means.
        d: dimension.
        start: see `GaussianMixture`; STMH starts at (10, 10).
        start_scale: see `GaussianMixture`.

    Raises:
        ValueError: if `distance` is not a positive number, `d` not a positive whole number, or `start` of
            the wrong length.
    """
    half = 0.5 * positive_number("distance", distance) / math.sqrt(whole_number("d", d))
    mean = torch.full((d,), half, dtype=torch.float64)
    return GaussianMixture(torch.stack([-mean, mean]), start=start, start_scale=start_scale)


def singular_mixture(
    epsilon: float = 0.3,
    d: int = 1,
    distance: float = 2.0,
    start: Sequence[float] | None = None,
    start_scale: float = 1.0,
) -> GaussianMixture:
    """Two narrow Gaussians: 1/2 N(-m, eps^2 I) + 1/2 N(m, eps^2 I), m = (distance / 2, 0, .., 0).

    The target of ReLD, Proposition 1 and Theorem 1, for the limit epsilon -> 0 at fixed means.

    Spaces: real.
    Source: ReLD, Proposition 1 and Theorem 1.

    Args:
        epsilon: standard deviation of each component in every coordinate.
        d: dimension.
        distance: |2 m|, the distance between the two means.
        start: see `GaussianMixture`.
        start_scale: see `GaussianMixture`.

    Raises:
        ValueError: if `epsilon` or `distance` is not a positive number, `d` not a positive whole number, or
            `start` of the wrong length.
    """
    mean = torch.zeros(whole_number("d", d), dtype=torch.float64)
    mean[0] = 0.5 * positive_number("distance", distance)
    variance = positive_number("epsilon", epsilon) ** 2
    return GaussianMixture(
        torch.stack([-mean, mean]), covariance=variance, start=start, start_scale=start_scale
    )
