"""Whether a kernel steps as its transition matrices say: drawn steps against enumerated rows."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from metrics.enumeration.drawn_transitions import drawn_counts, placement
from metrics.enumeration.row_agreement import Agreement, row_agreement
from samplers.kernel import Kernel
from targets.target import Target

DRAWS = 100_000
"""Chains that start at each state of the target."""

LEVEL = 1e-6
"""Significance: a sampler whose steps on a space have a smaller p-value does not follow its matrices."""


def step_agreement(
    kernel: Kernel,
    target: Target,
    matrices: tuple[Tensor, Tensor],
    draws: int,
    beta: float = 1.0,
    aux: Mapping[str, Tensor] | None = None,
) -> Agreement:
    """How well `draws` steps from each state agree with the matrix of the first step, and pairs of steps.

    Args:
        matrices: of the first step and of the second.
        beta: inverse temperature.
        aux: auxiliary variables with which chains start; by default those of `init`.
    """
    first, second = matrices
    tempered = torch.tensor(beta, dtype=torch.float64)
    start = placement(kernel, target, tempered, aux)
    generator = torch.Generator().manual_seed(0)
    one, two = drawn_counts(kernel, target, start, len(first), draws, tempered, generator)
    return row_agreement(one, start.rows(first)) + row_agreement(two, start.rows(first) @ second)


def prepared_agreement(
    kernel: Kernel, target: Target, matrices: tuple[Tensor, Tensor], draws: int
) -> Agreement:
    """The same of the kernel that a run on this target would step, where it is another one; at beta = 1."""
    faster = kernel.prepared(target, torch.ones((), dtype=torch.float64))
    return Agreement() if faster is kernel else step_agreement(faster, target, matrices, draws)
