"""The printed formula of entropic mode coverage: the mean entropy of single draws (A.3)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from metrics.statistics.mode_occupancy import entropy
from runner.tools.audit.finding import Figure, near
from targets.synthetic.grid_mixture import GridMixture
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians
from targets.synthetic.mixture_of_student_t import MixtureOfStudentT


def per_sample(target: GridMixture, weights: Tensor) -> float:
    """E_x H(p(mode | x)) / log M with x distributed as `weights` over the grid."""
    responsibilities = target.responsibilities(target.space.states())
    return float(weights @ entropy(responsibilities)) / math.log(len(target.modes))


def point_mass(target: GridMixture, place: Tensor) -> Tensor:
    """All weight on one cell."""
    weights = torch.zeros_like(target.probabilities())
    weights[place] = 1.0
    return weights


def coverage() -> list[Figure]:
    """The printed value for samples that cover the target, ignore it, or stand still."""
    gaussians = MixtureOfGaussians(8, energy="released")
    students = MixtureOfStudentT(8, energy="released")
    uniform = torch.full_like(gaussians.probabilities(), 1 / gaussians.space.size)
    peak = point_mass(gaussians, gaussians.space.index(gaussians.modes[0]))
    highest = point_mass(students, students.probabilities().argmax())
    return [
        Figure("MoG 8: the target", near(0.134, 0.001), per_sample(gaussians, gaussians.probabilities())),
        Figure("MoG 8: the uniform distribution", near(0.138, 0.001), per_sample(gaussians, uniform)),
        Figure("MoG 8: all on one peak", near(0.02, 0.005), per_sample(gaussians, peak)),
        Figure("MoS 8: the target", near(0.865, 0.001), per_sample(students, students.probabilities())),
        Figure("MoS 8: all on the likeliest cell", near(1.0, 0.001), per_sample(students, highest)),
    ]
