"""Pilot rounds that find a ladder: PT-DLP's Algorithm 3, with the barrier taken over the whole ladder.

Each round estimates the rejection between neighbours from mean Metropolis probabilities and moves the ladder
to equal rejections (`samplers.tempering.ladder`). It goes on from the states of the round before, and ends
once the rejections stand still and the barrier is known well enough. The printed and released code differ in
ways that break this (settings I, rows 12-14).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from samplers.kernel import Kernel
from samplers.kernel_family import family_of, takes_step_size
from samplers.pilot_run import PilotRun, Steps, Values
from samplers.tempering.ladder import equal_rejection_ladder, geometric_ladder
from samplers.tempering.replica_count import optimal_replicas
from samplers.tempering.swaps.swap_round import SwapMemory, Swaps
from samplers.tempering.swaps.swap_rules import Rungs
from samplers.tuning.pilots.shortfall import unseen_barrier
from samplers.tuning.pilots.sought_step_sizes import PER_RUNG, Pilot, Sought, StepSizes
from samplers.tuning.pilots.step_size import check_finite, first_look

ROUGH = Pilot(chains=8, steps=60)
"""Step sizes of the pilot rounds need only be roughly right; those of the final ladder are tuned again."""

PRECISION, STILL = 0.02, 0.01
"""A round ends when the standard error of the barrier is at most this share of it, and the rejections differ
from those of the blocks before by no more than this, on average over the pairs of neighbours."""

BLOCK = 25
"""Steps of a block, at most half a round."""


@dataclass(frozen=True)
class TunedLadder:
    """What the pilot rounds found.

    Attributes:
        betas: the ladder, float64 ``(K,)``.
        barrier: Lambda of each round; the last is the estimate.
        standard_error: of the last barrier.
        rejections: of the ladder of the last round.
        pilot_ladder: that ladder.
        optimal: K by each formula, a whole number of at least 2 without the upper limit, for the report.
        evaluations: target evaluations per pilot chain, all replicas counted.
        near: what is known of the step sizes of `betas`, and states of each; None where they are given.
    """

    betas: Tensor
    barrier: list[float]
    standard_error: float
    rejections: list[float]
    pilot_ladder: list[float]
    optimal: dict[str, int]
    evaluations: int
    near: StepSizes | None = None

    def report(self, remedy: str = "a longer ladder") -> dict[str, Any]:
        """What a reader of the run may want to know; `remedy` as for `unseen_barrier`."""
        return {
            "barrier": self.barrier[-1],
            "barrier_by_round": self.barrier,
            "barrier_standard_error": self.standard_error,
            "pilot_ladder": self.pilot_ladder,
            "pilot_rejections": self.rejections,
            "optimal_replicas": self.optimal,
            **unseen_barrier(self.pilot_ladder, self.rejections, remedy),
        }


@dataclass(frozen=True)
class LadderWanted:
    """What a ladder is tuned for.

    Attributes:
        replicas: K, or None for the number that `formula` gives, at most `limit`.
        step_size: of all rungs ``()``, or of each of the `replicas` rungs ``(K,)``, which the pilot's rungs
            take by their place in the ladder: both ladders cut the barrier into equal parts. None: tuned to
            `acceptance` on the first pilot ladder and interpolated in beta afterwards.
        hottest: inverse temperature at which the ladder ends.
    """

    replicas: int | None = None
    formula: str = "constrained"
    limit: int = 32
    step_size: Tensor | None = None
    acceptance: float = Kernel.optimal_acceptance
    hottest: float = 0.0


@dataclass(frozen=True)
class LadderPilot:
    """Size of a full pilot: at most `rounds` rounds of at most `steps` steps.

    The rounds end when the barrier moves by less than `tolerance`.
    """

    replicas: int = 10
    rounds: int = 5
    steps: int = 400
    chains: int = 32
    tolerance: float = 0.05

    def sizes(self, run: PilotRun[Any]) -> tuple[int, int]:
        """Rounds, and steps of each, as the effort of `run` allows."""
        return run.sized(self.rounds, 2), run.sized(self.steps, 16)

    def planned(self, run: PilotRun[Any]) -> int:
        """Steps of all rounds and of what comes before them."""
        rounds, steps = self.sizes(run)
        return ROUGH.sizes(run)[0] + rounds * steps


def tune_ladder(
    run: PilotRun[Any], kernel: Kernel, wanted: LadderWanted, pilot: LadderPilot | None = None
) -> Steps[TunedLadder]:
    """Algorithm 3: rounds that adapt the ladder until the barrier stands still, then K and its ladder."""
    pilot = pilot or LadderPilot()
    # K rungs see a barrier of at most K - 1. Ladders to 0 keep the rungs that their run ids stand for.
    rungs = max(pilot.replicas, wanted.replicas or 0) if wanted.hottest > 0 else pilot.replicas
    betas = first = geometric_ladder(rungs, hottest=wanted.hottest)
    rough, theta, evaluations = None, None, 0
    family = family_of(kernel) if takes_step_size(type(kernel)) else None
    if family is not None and wanted.step_size is None:
        rough = yield from first_look(run, Sought(family, first, wanted.acceptance), ROUGH)
        evaluations += rough.evaluations * rungs
    history: list[float] = []
    rounds, steps = pilot.sizes(run)
    for _ in range(rounds):
        tried, rung_kernel = betas.tolist(), kernel
        given = wanted.step_size if rough is None else rough.sizes
        if family is not None and given is not None:
            sizes = _by_place(given, len(betas)) if rough is None else _by_beta(given, first, betas)
            rung_kernel = family(sizes.to(run.target.like()).reshape(-1, 1, 1))
        seen = yield from _round(run, rung_kernel, betas, theta, steps, pilot.chains)
        theta, evaluations = seen["state"].theta, evaluations + seen["evaluations"]
        rejections, error = _rejections(seen)
        history.append(sum(rejections))
        found = {"rejection": rejections, "barrier": history[-1], "barrier_standard_error": error}
        run.note("ladder", steps=seen["steps"], beta=tried[:-1], next_beta=tried[1:], **found)
        betas = _ladder(tried, rejections, rungs)
        if len(history) > 1 and abs(history[-1] - history[-2]) < pilot.tolerance:
            break
    optimal = {name: optimal_replicas(history[-1], name) for name in ("v1", "v2", "constrained")}
    chosen = wanted.replicas or optimal_replicas(history[-1], wanted.formula, wanted.limit)
    ladder, near = _ladder(tried, rejections, chosen), None
    if rough is not None:
        assert theta is not None
        places = torch.linspace(0, rungs - 1, chosen).round().long().to(theta.device)
        states = theta[places, :, : PER_RUNG.chains]
        near = StepSizes(_by_beta(rough.sizes, first, ladder), rough.acceptance, states, 0)
    return TunedLadder(ladder, history, error, rejections, tried, optimal, evaluations, near)


def _ladder(betas: list[float], rejections: list[float], replicas: int) -> Tensor:
    return torch.tensor(equal_rejection_ladder(betas, rejections, replicas), dtype=torch.float64)


def _by_beta(step_sizes: Tensor, here: Tensor, there: Tensor) -> Tensor:
    """`step_sizes` of the inverse temperatures `here` at those `there`, float64; log-linear in beta."""
    logs = step_sizes.log().numpy()
    return torch.from_numpy(np.exp(np.interp(there.numpy(), here.numpy()[::-1], logs[::-1])))


def _by_place(step_sizes: Tensor, rungs: int) -> Tensor:
    """`step_sizes` ``()`` or ``(K,)`` for a ladder of another length, float64 ``(rungs,)``; log-linear."""
    logs = step_sizes.double().log().reshape(-1).cpu().numpy()
    here, there = np.linspace(0.0, 1.0, rungs), np.linspace(0.0, 1.0, len(logs))
    return torch.from_numpy(np.exp(np.interp(here, there, logs)))


def _round(
    run: PilotRun[Any], kernel: Kernel, betas: Tensor, theta: Tensor | None, steps: int, chains: int
) -> Steps[Values]:
    """Replicas that go on from `theta`, and the rejections of the blocks in which they stand still.

    ``total`` is their sum over the ``counted`` last steps, for each pair of neighbours and chain. The
    standard error of the barrier is that between chains, which are independent.
    """
    target, ladder, swaps = run.target, betas.to(run.target.like()).reshape(-1, 1, 1), Swaps()
    block = min(BLOCK, steps // 2)

    def begin() -> Values:
        shape = (len(betas), 1, chains)
        start = target.initial(shape, run.generator) if theta is None else theta
        state = kernel.start(target, start, ladder, run.generator)
        zeros = torch.zeros((len(betas) - 1, 1, chains), dtype=torch.float64, device=start.device)
        sums = {"total": zeros, "counted": 0, "block": zeros.clone()}
        return {"state": state, "memory": SwapMemory.start(state.log_prob), **sums, "evaluations": 0}

    def step(values: Values) -> bool:
        before = values["state"]
        moved, info = kernel.step(target, before, ladder, run.generator)
        values["state"], swap, values["memory"] = swaps.round(
            target, before, moved, Rungs(ladder), values["memory"], run.generator
        )
        values["evaluations"] += info.evaluations * len(betas)
        values["block"] += 1.0 - swap.probability
        if (values["steps"] + 1) % block:
            return False
        last, counted = values["block"], values["counted"]
        moves = (values["total"] / max(counted, 1) - last / block).mean(-1).abs().mean()
        still = counted > 0 and float(moves) <= STILL
        values["total"] = values["total"] + last if still else last
        values["counted"] = counted + block if still else block
        values["block"] = torch.zeros_like(last)
        rejections, error = _rejections(values)
        return still and error <= PRECISION * sum(rejections)

    values = yield from run.walk(begin, step, steps)
    check_finite(run.target, values["state"].log_prob, values["total"])
    return values


def _rejections(seen: Values) -> tuple[list[float], float]:
    """Mean rejections between neighbours, and the standard error of their sum, the barrier."""
    means = seen["total"].flatten(1) / seen["counted"]
    return means.mean(1).tolist(), float(means.sum(0).std()) / math.sqrt(means.shape[1])
