"""Ladder and step size for a Gaussian mixture by STMH's conditions (C.20) to (C.27).

Two of them cannot be met as printed. The second bound on the ratio in (C.21) is below one, so no ladder
could rise; the number of levels in (C.20) shows that it must be one plus that term. And (C.27) asks for
eta >= R^2 where the proof (Lemma 14) needs eta <= R^2, which leaves eta = R^2. Constants that the paper
leaves free are one: beta_1 = gamma_min / D^2, sigma_0^2 = gamma_min / beta_1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, cast

from torch import Tensor

from samplers.hyperparameters import positive
from targets.checks import one_of, whole_number, within
from targets.target import Target

LADDERS = ("coarse", "fine")


@dataclass(frozen=True)
class Mixture:
    """What the conditions need to know of a mixture of Gaussians with means mu_k and weights w_k.

    Attributes:
        norm: the largest ``|mu_k|``; D of the paper is the larger of it and sqrt(gamma_min).
        smallest_weight: w_min.
        gamma_min: smallest eigenvalue of the covariance.
        gamma_max: largest eigenvalue of the covariance.
        d: dimension.

    Raises:
        ValueError: for a negative norm, a weight outside (0, 1], eigenvalues that are not positive or in
            the wrong order, or a dimension below 1.
    """

    norm: float
    smallest_weight: float
    gamma_min: float
    gamma_max: float
    d: int

    def __post_init__(self) -> None:
        within("norm", self.norm, 0.0, math.inf)
        positive("smallest_weight", self.smallest_weight)
        within("smallest_weight", self.smallest_weight, 0.0, 1.0)
        positive("gamma_min", self.gamma_min)
        positive("gamma_max", self.gamma_max)
        if self.gamma_max < self.gamma_min:
            raise ValueError(
                f"gamma_max must be at least gamma_min={self.gamma_min:g}, {self.gamma_max!r} was given"
            )
        whole_number("d", self.d)

    @property
    def distance(self) -> float:
        """D = max(max |mu_k|, sqrt(gamma_min))."""
        return max(self.norm, math.sqrt(self.gamma_min))

    @property
    def kappa(self) -> float:
        """gamma_max / gamma_min."""
        return self.gamma_max / self.gamma_min

    @property
    def nu(self) -> float:
        """nu of (C.22)."""
        return 1 + math.log(self.kappa) + 2 / self.d * math.log(2 / self.smallest_weight)


def largest_ratio(mixture: Mixture, kind: str) -> float:
    """The largest beta_{i+1} / beta_i allowed.

    ``coarse``: 1 + 1/sqrt(d), the first bound of (C.21), which is all that mixing needs (Lemma 19 (iii)).
    ``fine``: also 1 + gamma_min / (D^2 + 2 gamma_max d nu), the second one as corrected, under which the
    estimated partition functions are proved (Lemma 28).

    Raises:
        ValueError: for another `kind`.
    """
    coarse = 1 + 1 / math.sqrt(mixture.d)
    if one_of("ladder", kind, LADDERS) == "coarse":
        return coarse
    spread = mixture.distance**2 + 2 * mixture.gamma_max * mixture.d * mixture.nu
    return min(coarse, 1 + mixture.gamma_min / spread)


def stmh_ladder(mixture: Mixture, kind: str = "coarse") -> list[float]:
    """Inverse temperatures from 1 down to gamma_min / D^2, in equal ratios of at most `largest_ratio`.

    The fewest levels that (C.21) allows, but at least 2.
    """
    hottest = mixture.gamma_min / mixture.distance**2
    span = -math.log(hottest)
    # Where D^2 = gamma_min one temperature would do, and a ladder has two.
    span = span if span > 1e-9 else math.log(largest_ratio(mixture, kind))
    steps = max(1, math.ceil(span / math.log(largest_ratio(mixture, kind)) - 1e-9))
    return [1.0, *(math.exp(-span * step / steps) for step in range(1, steps + 1))]


def radius(mixture: Mixture, levels: int, epsilon: float = 0.1) -> float:
    """R of (C.23) for a ladder of `levels` and total variation `epsilon`, in the units of the states.

    The variance of a random-walk proposal is eta = R^2 (C.27), its standard deviation R.

    Raises:
        ValueError: unless `epsilon` is in (0, 1] and `levels` at least 1.
    """
    positive("epsilon", epsilon)
    within("epsilon", epsilon, 0.0, 1.0)
    d, distance, kappa = mixture.d, mixture.distance, mixture.kappa
    inside = math.log(20 * whole_number("levels", levels) ** 2) + 6 + d * math.log(kappa)
    inside -= math.log(mixture.smallest_weight**2 * epsilon)
    return distance * (1 + math.sqrt(d * kappa) + math.sqrt(2 * kappa * inside))


class GaussianComponents(Protocol):
    """A mixture of Gaussians that gives its components."""

    means: Tensor
    """The components' means ``(components, d)``."""

    def eigenvalues(self) -> Tensor:
        """Eigenvalues of each component's covariance, ``(components, d)``."""
        ...

    def mode_weights(self) -> Tensor:
        """The components' weights ``(components,)``."""
        ...


def mixture_of(target: Target) -> Mixture:
    """The quantities of `target` that enter STMH's conditions.

    Raises:
        ValueError: if it is no mixture of Gaussians.
    """
    if not all(hasattr(target, member) for member in ("means", "eigenvalues", "mode_weights")):
        raise ValueError(
            "ladder=coarse, ladder=fine and step_size=stmh need a mixture of Gaussians as target, "
            f"{type(target).__name__} was given"
        )
    known = cast(GaussianComponents, target)
    eigenvalues = known.eigenvalues()
    return Mixture(
        norm=float(known.means.double().norm(dim=-1).max()),
        smallest_weight=float(known.mode_weights().min()),
        gamma_min=float(eigenvalues.min()),
        gamma_max=float(eigenvalues.max()),
        d=target.space.d,
    )
