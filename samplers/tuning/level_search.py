"""How the ladder, the step sizes and the log Z_i of simulated tempering are found on a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from samplers.hyperparameters import AUTO
from samplers.kernel import Kernel
from samplers.kernel_family import family_of
from samplers.tempering.simulated.partition_functions import PartitionFunctions, PartitionPilot, inductive
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from samplers.tempering.simulated.stmh_ladder import LADDERS, Mixture, radius, stmh_ladder
from samplers.tempering.simulated.stochastic_approximation import wang_landau
from samplers.tuning.ladder_rounds import tune_ladder
from samplers.tuning.step_size import Pilot, tune_step_size
from targets.randomness import Generator
from targets.spaces import Real
from targets.target import Target

STMH = "stmh"
"""The step size R at every level, by STMH's conditions."""

Estimator = Callable[[SimulatedTempering, Target, PartitionPilot, Generator], PartitionFunctions]

PARTITIONS: dict[str, Estimator] = {
    "inductive": inductive,
    "wang_landau": wang_landau,
}

PER_LEVEL = Pilot(candidates=25, chains=16, steps=300)


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


def check_open(target: Target, ladder: Any, step_size: Any) -> None:
    """Refuses what cannot be found on `target`; costs nothing.

    Raises:
        ValueError: for a rule of STMH where the target is no mixture of Gaussians, and on the reals for a
            ladder that is left to pilot rounds or ends at 0, where the hot distribution is improper.
    """
    if (isinstance(ladder, str) and ladder in LADDERS) or step_size == STMH:
        mixture_of(target)
    if isinstance(target.space, Real) and (ladder == AUTO or ladder[-1] == 0):
        raise ValueError(
            "ladder must end above 0 on the reals: 'coarse', 'fine' or a list of numbers, "
            f"{ladder if ladder == AUTO else list(ladder)!r} was given"
        )


def tune_ladder_of(
    kernel: Kernel,
    target: Target,
    rule: str,
    generator: Generator,
    limit: int,
    acceptance: float,
    step_size: Tensor | None,
) -> tuple[Tensor, dict[str, Any], int]:
    """Inverse temperatures ``(L,)``, float64, by `rule`; a report; the evaluations spent per chain."""
    if rule in LADDERS:
        mixture = mixture_of(target)
        betas = stmh_ladder(mixture, rule)
        found = {"stmh_distance": mixture.distance, "stmh_radius": radius(mixture, len(betas))}
        return torch.tensor(betas, dtype=torch.float64), found, 0
    # The number of replicas that suits swaps is no worse for single chains: both need overlap.
    tuned = tune_ladder(
        kernel,
        target,
        generator,
        replicas=None,
        formula="constrained",
        limit=limit,
        step_size=step_size,
        acceptance=acceptance,
    )
    return tuned.betas, tuned.report(), tuned.evaluations


def tune_step_sizes_of(
    kernel: Kernel, target: Target, rule: str, betas: Tensor, generator: Generator, acceptance: float
) -> tuple[Tensor, int]:
    """Step sizes ``(L,)``, float64, and the evaluations spent per chain."""
    if rule == STMH:
        size = radius(mixture_of(target), len(betas))
        return torch.full((len(betas),), size, dtype=torch.float64), 0
    sizes, _, spent = tune_step_size(
        family_of(kernel), target, betas, generator, wanted=acceptance, pilot=PER_LEVEL
    )
    return sizes.double().cpu(), spent * len(betas)
