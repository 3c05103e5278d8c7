"""What `task=spectral_gap` computes for a Langevin diffusion on a grid, and the theory's values for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from metrics.diffusion.diffusion_mixing import langevin_mixing
from metrics.diffusion.langevin_gap import check_grid, inverse_gap, langevin, reld
from metrics.diffusion.langevin_generator import Grid, Level
from metrics.diffusion.reld_theory import mreld_choice, proposition_1, small_epsilon_limit
from metrics.diffusion.restricted_langevin_gap import restricted_gaps
from metrics.enumeration.subsets import LEVEL, check_restriction, subsets
from runner.tasks.gaps.methods import THEORY
from samplers.hyperparameters import positive
from targets.synthetic.gaussian_mixture import GaussianMixture
from targets.target import Target

ROUNDING = 1e-6
"""Relative difference of two numbers that are the same."""

FORMULAS = dict(zip(THEORY, (proposition_1, small_epsilon_limit), strict=True))


def check_diffusion(target: Target, method: str, task: Mapping[str, Any]) -> None:
    """Refuses what `of_diffusion` would refuse, before any matrix is built.

    Raises:
        ValueError: naming what is refused.
    """
    if task["restrict"] == LEVEL:
        raise ValueError(f"restrict must be mode or ball for method={method}, 'level' was given")
    check_restriction(target, task["restrict"], task["radius"])
    levels, rho = _levels(method, task, target)
    check_grid(target, levels, rho, task["grid"], task["box"], task["memory"], task["negligible"])


def of_diffusion(target: Target, method: str, task: Mapping[str, Any]) -> dict[str, float]:
    """Inverse gap of a diffusion on `target` and its mixing time, in units of time.

    The mixing time is from the heaviest state of the finer grid; NaN where that grid is too large for it
    (`metrics.diffusion.diffusion_mixing`). Restricted gaps are of the states whose first replica is in the
    subset.

    Raises:
        ValueError: for a setting that is refused.
    """
    check_diffusion(target, method, task)
    levels, rho = _levels(method, task, target)
    points, box, negligible = task["grid"], task["box"], task["negligible"]
    found = inverse_gap(target, levels, rho, points, box, memory=task["memory"], negligible=negligible)
    grid = Grid(points, box, target.space.d)
    mixed, bound = langevin_mixing(target, levels, rho, grid, found.fine, negligible=negligible)
    values = {
        "spectral_gap": 1.0 / found.kappa,
        "inverse_gap": found.kappa,
        "log_inverse_gap": math.log(found.kappa),
        "inverse_gap_error": found.error,
        "inverse_gap_relative_error": found.error / found.kappa,
        "inverse_gap_fine": found.fine,
        "inverse_gap_coarse": found.coarse,
        "mixing_time_from_heaviest": mixed,
        "mixing_time_from_heaviest_bound": bound,
        "states": float(found.states),
        "rho": rho,
        "tau": levels[-1].tau,
    }
    if task["restrict"] is None:
        return values

    def divide(cells: Tensor) -> dict[str, Tensor]:
        return subsets(target, cells, task["restrict"], task["radius"])

    for name, part in restricted_gaps(
        target, levels, rho, points, box, divide, negligible=negligible
    ).items():
        values[f"restricted_gap_{name}"] = part.gap
        values[f"restricted_gap_error_{name}"] = part.error
        values[f"restricted_inverse_gap_{name}"] = 1.0 / part.gap if part.gap > 0.0 else math.inf
        values[f"restricted_mass_{name}"] = part.mass
    return values


def of_theory(target: Target, method: str, task: Mapping[str, Any]) -> dict[str, float]:
    """The inverse gap in theory of Langevin diffusion in the target's dimension.

    Raises:
        ValueError: for a setting that is refused.
    """
    if task["restrict"] is not None:
        raise ValueError(f"restrict must be null for method={method}, {task['restrict']!r} was given")
    positive("length", task["length"])
    positive("distance", task["distance"])
    length, distance = float(task["length"]), float(task["distance"])
    _require_two_modes(target, method, length, distance)
    log_kappa = FORMULAS[method](length, distance, target.space.d)
    return {"inverse_gap": _exp(log_kappa), "log_inverse_gap": log_kappa}


def _require_two_modes(target: Target, method: str, length: float, distance: float) -> None:
    """Refuses a formula for two equal Gaussians on another target, or with numbers that are not its own."""
    if not isinstance(target, GaussianMixture) or not _two_alike(target):
        raise ValueError(f"method={method} needs a mixture of two equal Gaussians, such as singular_mixture")
    first, second = target.means.double()
    width, apart = float(target.eigenvalues()[0, 0].sqrt()), float((second - first).norm())
    for key, given, own in (("length", length, width), ("distance", distance, apart)):
        if not math.isclose(given, own, rel_tol=ROUNDING):
            raise ValueError(f"{key} must be {own:g}, as that of the target is, {given:g} was given")


def _two_alike(target: GaussianMixture) -> bool:
    """Whether there are two components, with one weight and one variance in all directions."""
    spreads, weights = target.eigenvalues(), target.mode_weights()
    alike = torch.allclose(spreads, spreads[:1, :1], rtol=ROUNDING) and torch.allclose(weights, weights[:1])
    return len(target.means) == 2 and alike


def _levels(method: str, task: Mapping[str, Any], target: Target) -> tuple[tuple[Level, ...], float]:
    """The replicas of a diffusion and the intensity of their swaps."""
    if method == "ld":
        return langevin(), 0.0
    if method == "reld":
        positive("rho", task["rho"])
        return reld(task["tau"], task["reference"], task["scale"]), float(task["rho"])
    positive("length", task["length"])
    choice = mreld_choice(
        task["choice"],
        float(task["length"]),
        target.space.d,
        task["levels"],
        task["scale"],
        task["alpha"],
    )
    return choice.levels, choice.rho


def _exp(value: float) -> float:
    return math.exp(value) if value < 700.0 else math.inf
