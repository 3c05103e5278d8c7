"""How flat the released MoG and MoS targets are, and what that makes of the published KL (A.1, A.3)."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import torch
from torch import Tensor

import conf
from runner.tools.audit.finding import Figure, near
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians
from targets.synthetic.mixture_of_student_t import MixtureOfStudentT
from targets.synthetic.tabulated import Tabulated

COLUMNS = ("MoG c=8", "MoG c=16", "MoS c=8", "MoS c=16")
"""The columns of Table 1, in the names of ``conf/published/pt_dlp.csv``."""

NOTES = {
    "MoG c=8": (0.0, 0.88, 2.4, 5.0e-3),
    "MoG c=16": (0.0, 0.90, 2.5, 6.7e-3),
    "MoS c=8": (0.079, 0.217, 1.15, 5.9e-4),
    "MoS c=16": (0.90, 3.9, 19.5, 0.215),
}
"""Lowest U, highest U, largest over smallest probability, KL(pi || uniform): the table of A.1."""


def released_target(column: str) -> Tabulated:
    """The released target of a column of Table 1."""
    family, components = column.split(" c=")
    return {"MoG": MixtureOfGaussians, "MoS": MixtureOfStudentT}[family](int(components), energy="released")


def divergence_from_uniform(probabilities: Tensor) -> float:
    """KL(pi || uniform) in nats: what infinitely many uniform draws score by the paper's KL."""
    return math.log(len(probabilities)) - float(torch.special.entr(probabilities).sum())


def flatness() -> list[Figure]:
    """The four figures of A.1 for each target of Table 1; tolerances are the rounding there, or 2 %."""
    figures = []
    for column, (low, high, ratio, divergence) in NOTES.items():
        target = released_target(column)
        energy = target.log_prob(target.space.states())
        spread = float((energy.max() - energy.min()).exp())
        figures += [
            Figure(f"{column}: lowest U", near(low, 0.005), float(energy.min())),
            Figure(f"{column}: highest U", near(high, 0.025), float(energy.max())),
            Figure(f"{column}: largest / smallest probability", near(ratio, 0.05), spread),
            Figure(
                f"{column}: KL(pi || uniform)",
                near(divergence, 0.02 * divergence),
                divergence_from_uniform(target.probabilities()),
            ),
        ]
    return figures


def best_published(column: str) -> float:
    """The lowest published KL of a column of Table 1, over samplers and both versions of the paper."""
    path = Path(conf.__path__[0]) / "published" / "pt_dlp.csv"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    values = [
        float(row["mean"]) * float(row["unit_scale"])
        for row in csv.DictReader(lines)
        if row["table"] == "Table 1" and row["metric"] == "KL" and row["setting"] == column
    ]
    return min(values)


def uniform_beats_published() -> list[Figure]:
    """Columns of Table 1 whose best published KL is above that of a sampler which ignores the target."""
    scores = {c: divergence_from_uniform(released_target(c).probabilities()) for c in COLUMNS}
    beaten = [column for column in COLUMNS if scores[column] < best_published(column)]
    return [Figure("columns in which the uniform sampler wins, of 4", near(3, 0), len(beaten))]
