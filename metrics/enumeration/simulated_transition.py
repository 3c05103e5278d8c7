"""The transition matrix of simulated tempering on levels and states, by enumeration.

Pairs (level, state) are listed with the state running fastest. The moves between levels come from
`SimulatedTempering.log_acceptance`, which `step` runs; those within a level from the kernel's own matrix.
"""

from __future__ import annotations

import torch
from torch import Tensor

from metrics.enumeration.transition_matrix import enumerable_space, transition_matrix
from samplers.inverse_temperatures import tempered_log_prob
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from targets.target import Target


def joint_distribution(chain: SimulatedTempering, target: Target) -> Tensor:
    """p(i, theta) ~ exp(beta_i U(theta)) / Z_i with the chain's Z_i, normalised, float64 ``(L * size,)``.

    Raises:
        ValueError: for a space that cannot be enumerated.
    """
    energy = target.log_prob(enumerable_space(target).states()).double()
    tempered = tempered_log_prob(energy, chain.betas.double().unsqueeze(-1))
    joint = tempered - chain.log_partition.double().unsqueeze(-1)
    return joint.flatten().softmax(0)


def simulated_matrix(chain: SimulatedTempering, target: Target, local: list[Tensor] | None = None) -> Tensor:
    """P ``(L * size, L * size)``, float64: one step of simulated tempering at beta = 1.

    Args:
        local: matrices ``(size, size)`` of the kernel at each level; by default those after `init`.

    Raises:
        ValueError: for a space or a kernel that cannot be enumerated.
    """
    space, levels = enumerable_space(target), chain.levels
    states = space.states()
    size, one = len(states), torch.ones((), dtype=torch.float64)
    matrix = torch.zeros((levels, size, levels, size), dtype=torch.float64)
    energy = target.log_prob(states)
    for level, beta in enumerate(chain.betas.tolist()):
        here = torch.full((size,), level)
        at_level = chain.at(torch.tensor(level))
        within = transition_matrix(at_level, target, beta) if local is None else local[level]
        matrix[level, :, level] += (1.0 - chain.rate) * within
        stay = torch.full((size,), chain.rate, dtype=torch.float64)
        for other in (level - 1, level + 1):
            moved = chain.log_acceptance(energy, here, torch.full((size,), other), one).exp()
            moved = 0.5 * chain.rate * moved
            if 0 <= other < levels:
                matrix[level, :, other] += torch.diag(moved)
            stay -= moved
        matrix[level, :, level] += torch.diag(stay)
    return matrix.reshape(levels * size, levels * size)
