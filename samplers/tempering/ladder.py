"""Ladders of inverse temperatures: PT-DLP's Algorithm 3, with the barrier taken over the whole ladder.

Pilot rounds estimate the rejection r_k between neighbours from mean Metropolis probabilities. Their sums
from the hot end give the communication barrier Lambda(beta), interpolated monotonically; the new ladder
cuts it into equal parts (v1, Eq. 7; Syed et al. 2022), which makes all rejections equal. The printed and
released code differ in ways that break this (`experiments.md` I, rows 12-14).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq
from torch import Tensor

from samplers.hyperparameters import AUTO, is_number
from samplers.kernel import Kernel
from samplers.tempering.replica_count import optimal_replicas
from samplers.tempering.swaps.swap_round import Swaps
from samplers.tuning.step_size import Pilot, Steppable, check_finite, tune_step_size
from targets.randomness import Generator
from targets.target import Target

ROUGH = Pilot(candidates=13, chains=8, steps=200)
"""Step sizes of the pilot rounds need only be sensible; those of the final ladder are tuned anew."""


def check_ladder(ladder: Any, *, auto: bool = True) -> Tensor:
    """A ladder as a float64 tensor ``(K,)``; `auto` says whether the caller would have taken ``"auto"``, too.

    Raises:
        ValueError: unless it has at least two rungs and decreases strictly from 1 to at least 0.
    """
    given = "at least two numbers that decrease strictly from 1 and stay in [0, 1]"
    allowed = f"ladder must be {AUTO!r} or {given}" if auto else f"ladder must be {given}"
    if isinstance(ladder, str) or not isinstance(ladder, Sequence):
        raise ValueError(f"{allowed}, {ladder!r} was given")
    values = list(ladder)
    sound = len(values) >= 2 and all(is_number(value) and 0 <= value <= 1 for value in values)
    if not sound or values[0] != 1 or any(a <= b for a, b in pairwise(values)):
        raise ValueError(f"{allowed}, {values!r} was given")
    return torch.tensor(values, dtype=torch.float64)


def geometric_ladder(replicas: int, coldest_hot: float = 0.01) -> Tensor:
    """1, .., `coldest_hot` in equal ratios and then 0, `replicas` rungs in all, float64 ``(replicas,)``."""
    if replicas == 2:
        return torch.tensor([1.0, 0.0], dtype=torch.float64)
    ratios = torch.logspace(0.0, np.log10(coldest_hot), replicas - 1, dtype=torch.float64)
    return torch.cat([ratios, torch.zeros(1, dtype=torch.float64)])


def barrier(betas: Sequence[float], rejections: Sequence[float]) -> PchipInterpolator:
    """Lambda(beta), monotone piecewise cubic (Fritsch and Carlson), zero at the hottest rung.

    Args:
        betas: ladder, decreasing, length K.
        rejections: mean rejection between rungs k and k + 1, length K - 1.
    """
    # A tiny slope keeps Lambda invertible where neighbours always swap.
    steps = np.maximum(np.asarray(rejections, dtype=float), 1e-9)
    cumulative = np.concatenate([[0.0], np.cumsum(steps[::-1])])
    return PchipInterpolator(np.asarray(betas, dtype=float)[::-1], cumulative)


def equal_rejection_ladder(betas: Sequence[float], rejections: Sequence[float], replicas: int) -> list[float]:
    """The ladder of `replicas` rungs whose neighbours are all equally far apart: Lambda in equal parts."""
    curve = barrier(betas, rejections)
    hot, cold = float(betas[-1]), float(betas[0])
    total = float(curve(cold))
    inner = [
        brentq(lambda beta, level=level: float(curve(beta)) - level, hot, cold, xtol=1e-12)
        for level in total * (1 - np.arange(1, replicas - 1) / (replicas - 1))
    ]
    return [cold, *inner, hot]


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


def tune_ladder(
    kernel: Kernel,
    target: Target,
    generator: Generator,
    *,
    replicas: int | None,
    formula: str,
    limit: int,
    step_size: Tensor | None,
    acceptance: float,
    pilot_replicas: int = 10,
    rounds: int = 5,
    steps: int = 400,
    chains: int = 32,
    tolerance: float = 0.05,
) -> TunedLadder:
    """Algorithm 3: rounds that adapt the ladder until the barrier stands still, then K and its ladder.

    Args:
        replicas: K, or None for the number that `formula` gives, at most `limit`.
        step_size: of all rungs ``()``, or of each of the `replicas` rungs ``(K,)``, which the pilot's rungs
            take by their place in the ladder: both ladders cut the barrier into equal parts. None: tuned to
            `acceptance` on the first pilot ladder and interpolated in beta afterwards.
        pilot_replicas, rounds, steps, chains: size of the pilot; half of the steps of a round are measured.
        tolerance: the rounds end when the barrier moves by less.
    """
    like = target.like()
    betas = geometric_ladder(pilot_replicas)
    first, evaluations = betas, 0
    sizes: Tensor | None = None
    given: Tensor | None = None
    if isinstance(kernel, Steppable):
        if step_size is None:
            sizes, _, spent = tune_step_size(kernel, target, betas, generator, wanted=acceptance, pilot=ROUGH)
            evaluations += spent * pilot_replicas
        else:
            given = _by_place(step_size, pilot_replicas)
    theta = target.initial((pilot_replicas, 1, chains), generator)
    history: list[float] = []
    rejections: list[float] = []
    pilot = betas.tolist()
    for _ in range(rounds):
        pilot = betas.tolist()
        rung_kernel = kernel
        if sizes is not None:
            at = np.interp(betas.numpy(), first.numpy()[::-1], sizes.log().numpy()[::-1])
            given = torch.from_numpy(np.exp(at))
        if given is not None and isinstance(kernel, Steppable):
            rung_kernel = kernel.with_step_size(given.to(like).reshape(-1, 1, 1))
        theta, rejections, spent = _pilot_round(rung_kernel, target, theta, betas.to(like), steps, generator)
        evaluations += spent
        history.append(float(sum(rejections)))
        betas = torch.tensor(equal_rejection_ladder(pilot, rejections, pilot_replicas), dtype=torch.float64)
        if len(history) > 1 and abs(history[-1] - history[-2]) < tolerance:
            break
    optimal = {name: optimal_replicas(history[-1], name) for name in ("v1", "v2", "constrained")}
    chosen = replicas if replicas is not None else optimal_replicas(history[-1], formula, limit)
    ladder = torch.tensor(equal_rejection_ladder(pilot, rejections, chosen), dtype=torch.float64)
    return TunedLadder(ladder, history, rejections, pilot, optimal, evaluations)


def _by_place(step_sizes: Tensor, rungs: int) -> Tensor:
    """`step_sizes` ``()`` or ``(K,)`` for a ladder of another length, float64 ``(rungs,)``; log-linear."""
    logs = step_sizes.double().log().reshape(-1).numpy()
    here, there = np.linspace(0.0, 1.0, rungs), np.linspace(0.0, 1.0, len(logs))
    return torch.from_numpy(np.exp(np.interp(here, there, logs)))


def _pilot_round(
    kernel: Kernel, target: Target, theta: Tensor, betas: Tensor, steps: int, generator: Generator
) -> tuple[Tensor, list[float], int]:
    """Where the replicas end, the mean rejections of the second half of the round, and what it cost."""
    ladder = betas.reshape(-1, 1, 1)
    swaps = Swaps()
    state = kernel.init(target, theta, ladder)
    turn = torch.zeros((), dtype=torch.int64, device=theta.device)
    replica = torch.zeros_like(state.log_prob, dtype=torch.int64)
    total = torch.zeros(len(betas) - 1, dtype=torch.float64, device=theta.device)
    evaluations = 0
    for step in range(steps):
        moved, info = kernel.step(target, state, ladder, generator)
        state, swap, _ = swaps.round(
            target, state, moved, ladder, None, turn + step, replica, state.log_prob, generator
        )
        evaluations += info.evaluations * len(betas)
        if step >= steps // 2:
            total += 1.0 - swap.probability.mean((-2, -1), dtype=torch.float64)
    check_finite(state.log_prob, total)
    return state.theta, (total / (steps - steps // 2)).tolist(), evaluations
