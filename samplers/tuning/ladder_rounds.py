"""Pilot rounds that find a ladder: PT-DLP's Algorithm 3, with the barrier taken over the whole ladder.

Each round estimates the rejection between neighbours from mean Metropolis probabilities and moves the ladder
to equal rejections (`samplers.tempering.ladder`). The printed and released code differ in ways that break
this (settings I, rows 12-14).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from samplers.kernel import Kernel
from samplers.kernel_family import family_of, takes_step_size
from samplers.tempering.ladder import equal_rejection_ladder, geometric_ladder
from samplers.tempering.replica_count import optimal_replicas
from samplers.tempering.swaps.swap_round import SwapMemory, Swaps
from samplers.tempering.swaps.swap_rules import Rungs
from samplers.tuning.step_size import Pilot, check_finite, tune_step_size
from targets.randomness import Generator
from targets.target import Target

ROUGH = Pilot(candidates=13, chains=8, steps=200)
"""Step sizes of the pilot rounds need only be roughly right; those of the final ladder are tuned again."""


@dataclass(frozen=True)
class TunedLadder:
    """What the pilot rounds found.

    Attributes:
        betas: the ladder, float64 ``(K,)``.
        barrier: Lambda of each round; the last is the estimate.
        rejections: of the last pilot ladder.
        optimal: K by each formula, before rounding and limits are applied, for the report.
        evaluations: target evaluations per pilot chain, all replicas counted.
    """

    betas: Tensor
    barrier: list[float]
    rejections: list[float]
    pilot_ladder: list[float]
    optimal: dict[str, int]
    evaluations: int

    def report(self) -> dict[str, Any]:
        """What a reader of the run may want to know."""
        return {
            "barrier": self.barrier[-1],
            "barrier_by_round": self.barrier,
            "pilot_ladder": self.pilot_ladder,
            "pilot_rejections": self.rejections,
            "optimal_replicas": self.optimal,
        }


@dataclass(frozen=True)
class LadderWanted:
    """What a ladder is tuned for.

    Attributes:
        replicas: K, or None for the number that `formula` gives, at most `limit`.
        step_size: of all rungs ``()``, or of each of the `replicas` rungs ``(K,)``, which the pilot's rungs
            take by their place in the ladder: both ladders cut the barrier into equal parts. None: tuned to
            `acceptance` on the first pilot ladder and interpolated in beta afterwards.
    """

    replicas: int | None = None
    formula: str = "constrained"
    limit: int = 32
    step_size: Tensor | None = None
    acceptance: float = Kernel.optimal_acceptance


@dataclass(frozen=True)
class LadderPilot:
    """Size of the pilot: half of the `steps` of a round are measured.

    The rounds end when the barrier moves by less than `tolerance`.
    """

    replicas: int = 10
    rounds: int = 5
    steps: int = 400
    chains: int = 32
    tolerance: float = 0.05


def tune_ladder(
    kernel: Kernel,
    target: Target,
    generator: Generator,
    wanted: LadderWanted,
    pilot: LadderPilot | None = None,
) -> TunedLadder:
    """Algorithm 3: rounds that adapt the ladder until the barrier stands still, then K and its ladder."""
    pilot = pilot or LadderPilot()
    like = target.like()
    betas = geometric_ladder(pilot.replicas)
    first, evaluations = betas, 0
    sizes: Tensor | None = None
    given: Tensor | None = None
    family = family_of(kernel) if takes_step_size(type(kernel)) else None
    if family is not None:
        if wanted.step_size is None:
            sizes, _, spent = tune_step_size(
                family, target, betas, generator, wanted=wanted.acceptance, pilot=ROUGH
            )
            evaluations += spent * pilot.replicas
        else:
            given = _by_place(wanted.step_size, pilot.replicas)
    theta = target.initial((pilot.replicas, 1, pilot.chains), generator)
    history: list[float] = []
    rejections: list[float] = []
    tried = betas.tolist()
    for _ in range(pilot.rounds):
        tried = betas.tolist()
        rung_kernel = kernel
        if sizes is not None:
            at = np.interp(betas.numpy(), first.numpy()[::-1], sizes.log().cpu().numpy()[::-1])
            given = torch.from_numpy(np.exp(at))
        if given is not None and family is not None:
            rung_kernel = family(given.to(like).reshape(-1, 1, 1))
        theta, rejections, spent = _pilot_round(
            rung_kernel, target, theta, betas.to(like), pilot.steps, generator
        )
        evaluations += spent
        history.append(float(sum(rejections)))
        betas = torch.tensor(equal_rejection_ladder(tried, rejections, pilot.replicas), dtype=torch.float64)
        if len(history) > 1 and abs(history[-1] - history[-2]) < pilot.tolerance:
            break
    optimal = {name: optimal_replicas(history[-1], name) for name in ("v1", "v2", "constrained")}
    chosen = wanted.replicas or optimal_replicas(history[-1], wanted.formula, wanted.limit)
    ladder = torch.tensor(equal_rejection_ladder(tried, rejections, chosen), dtype=torch.float64)
    return TunedLadder(ladder, history, rejections, tried, optimal, evaluations)


def _by_place(step_sizes: Tensor, rungs: int) -> Tensor:
    """`step_sizes` ``()`` or ``(K,)`` for a ladder of another length, float64 ``(rungs,)``; log-linear."""
    logs = step_sizes.double().log().reshape(-1).cpu().numpy()
    here, there = np.linspace(0.0, 1.0, rungs), np.linspace(0.0, 1.0, len(logs))
    return torch.from_numpy(np.exp(np.interp(here, there, logs)))


def _pilot_round(
    kernel: Kernel, target: Target, theta: Tensor, betas: Tensor, steps: int, generator: Generator
) -> tuple[Tensor, list[float], int]:
    """Where the replicas end, the mean rejections of the second half of the round, and what it cost."""
    ladder = betas.reshape(-1, 1, 1)
    swaps = Swaps()
    state = kernel.start(target, theta, ladder, generator)
    memory = SwapMemory.start(state.log_prob)
    total = torch.zeros(len(betas) - 1, dtype=torch.float64, device=theta.device)
    evaluations = 0
    for step in range(steps):
        moved, info = kernel.step(target, state, ladder, generator)
        state, swap, memory = swaps.round(target, state, moved, Rungs(ladder), memory, generator)
        evaluations += info.evaluations * len(betas)
        if step >= steps // 2:
            total += 1.0 - swap.probability.mean((-2, -1), dtype=torch.float64)
    check_finite(state.log_prob, total)
    return state.theta, (total / (steps - steps // 2)).tolist(), evaluations
