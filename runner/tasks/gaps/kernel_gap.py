"""What `task=spectral_gap` computes for a kernel on an enumerable space: its gap and time scales."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from metrics.enumeration.convergence import autocorrelation_time, chain_spectrum, mixing_time, restricted_gap
from metrics.enumeration.enumerated_chain import (
    MOST_STATES,
    EnumeratedChain,
    enumerated_chain,
    require_enumerable,
)
from metrics.enumeration.subsets import LEVEL, check_restriction, subsets
from runner.problem.build import Problem
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from targets.spaces import Discrete


def check_kernel_gap(problem: Problem, task: Mapping[str, Any]) -> None:
    """Refuses what `of_kernel` would refuse, before any matrix is built.

    Raises:
        ValueError: naming what is refused.
    """
    if problem.tunable is None:
        require_enumerable(problem.kernel, problem.target, task["memory"])
    space = problem.target.space
    # To compare states with all of a larger space is not worth it: that is refused once the kernel is tuned.
    if not isinstance(space, Discrete) or space.size <= MOST_STATES:
        _check_subsets(problem, task)


def of_kernel(problem: Problem, task: Mapping[str, Any]) -> dict[str, float]:
    """Gap, mixing and autocorrelation times of a tuned kernel, in steps of the kernel.

    For a kernel that is not exact they are those of its own stationary distribution. The autocorrelation time
    is that of the log density at the ends of the kernel's cycles.

    Raises:
        ValueError: if it cannot be enumerated, or a subset has fewer than two states.
    """
    with torch.no_grad():
        chain = enumerated_chain(problem.kernel, problem.target, task["memory"])
        spectrum = chain_spectrum(chain.matrix, chain.pi)
        assert isinstance(problem.target.space, Discrete)
        states = problem.target.space.states()
        energy = problem.target.log_prob(states).double()[chain.place]
        correlated = autocorrelation_time(chain.matrix, chain.pi, energy) if spectrum.gap > 0.0 else torch.inf
        restricted = _restricted(chain, states, problem, task)
    steps = chain.steps
    return {
        "spectral_gap": spectrum.gap / steps,
        "inverse_gap": spectrum.inverse_gap * steps,
        "second_modulus": spectrum.second_modulus ** (1.0 / steps),
        "relaxation_time": spectrum.relaxation_time * steps,
        "mixing_time": mixing_time(chain.matrix, chain.pi) * steps,
        "mixing_time_bound": spectrum.mixing_time_bound(float(chain.pi.min())) * steps,
        "autocorrelation_time": correlated * steps,
        "autocorrelation_time_bound": (2.0 * spectrum.inverse_gap - 1.0) * steps,
        "reversible": float(spectrum.reversible),
        "states": float(len(chain.pi)),
        **restricted,
    }


def _restricted(
    chain: EnumeratedChain, states: Tensor, problem: Problem, task: Mapping[str, Any]
) -> dict[str, float]:
    """Gap and mass of each subset: of the states whose target's state is in it, at whatever level."""
    _check_subsets(problem, task)
    restrict = task["restrict"]
    if restrict is None:
        return {}
    if restrict == LEVEL:
        assert chain.level is not None
        levels = range(int(chain.level.max()) + 1)
        parts = {f"{LEVEL}_{level}": chain.level == level for level in levels}
    else:
        found = subsets(problem.target, states, restrict, task["radius"])
        parts = {name: held[chain.place] for name, held in found.items()}
    values = {}
    for name, subset in parts.items():
        if int(subset.sum()) < 2:
            raise ValueError(
                f"restrict leaves {int(subset.sum())} states with mass in {name}, at least 2 are needed"
            )
        gap = restricted_gap(chain.matrix, chain.pi, subset)
        values[f"restricted_gap_{name}"] = gap / chain.steps
        values[f"restricted_inverse_gap_{name}"] = chain.steps / gap if gap > 0.0 else torch.inf
        values[f"restricted_mass_{name}"] = float(chain.pi[subset].sum())
    return values


def _check_subsets(problem: Problem, task: Mapping[str, Any]) -> None:
    if task["restrict"] == LEVEL and not isinstance(problem.kernel, SimulatedTempering):
        raise ValueError(
            f"restrict=level needs simulated tempering, {type(problem.kernel).__name__} has one level"
        )
    check_restriction(problem.target, task["restrict"], task["radius"])
