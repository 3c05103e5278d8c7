"""A step size for a given acceptance, from one batched pilot.

Many step sizes are tried at once: they are a leading batch axis. A first look goes over all that are worth
trying, and a closer one, whose chains go on from there, over a few around what it found. The wanted one is
read off where the mean acceptance first falls through the target value, so that a global step size at which
acceptance happens to rise again is never taken for a local one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from samplers.kernel import Kernel
from samplers.kernel_family import family_of
from samplers.pilot_run import PilotRun, Steps, Values
from samplers.tuning.pilots.acceptance_curve import first_crossing
from samplers.tuning.pilots.shortfall import shortfall
from samplers.tuning.pilots.sought_step_sizes import PER_RUNG, PRECISION, Pilot, Sought, StepSizes
from targets.target import Target
from targets.trial.failures import failure
from targets.trial.zero_density import zero_density_hint

AROUND = (0.64, 0.8, 1.0, 1.25, 1.5625)
"""The candidates of a closer look, relative to what is known; it moves on where that was too far off."""

MOVES = 6
"""Closer looks at most."""

SURE = 3.0
"""Standard errors by which the acceptances of a closer look differ for certain."""

CHECKED = 10
"""Steps between two looks at a standard error."""


def check_finite(target: Target, log_prob: Tensor, acceptance: Tensor) -> None:
    """Refuses what a pilot saw of `target`, if it is not finite everywhere.

    Raises:
        ValueError: if there is a NaN or an infinity.
    """
    if not all(bool(value.isfinite().all()) for value in (log_prob, acceptance)):
        raise ValueError(
            "the target gave a log density that is NaN or infinite in the tuning pilot"
            f"{zero_density_hint(target, log_prob)}"
        )


def tune_step_size(run: PilotRun[Any], sought: Sought, pilot: Pilot | None = None) -> Steps[StepSizes]:
    """The step sizes that are `sought`; `StepSizes.acceptance` is that of the first look.

    Raises:
        ValueError: if the target's log density is not finite where the pilot goes.
    """
    pilot = pilot or Pilot()
    first = yield from first_look(run, sought, pilot)
    closer = yield from closer_look(run, sought, first, pilot)
    return replace(closer, acceptance=first.acceptance, evaluations=first.evaluations + closer.evaluations)


def first_look(run: PilotRun[Any], sought: Sought, pilot: Pilot) -> Steps[StepSizes]:
    """Candidates over the whole `Sought.reach`, from the target's own start."""
    low, high = (torch.tensor(end).log10().item() for end in sought.reach(run.target))
    candidates = torch.logspace(low, high, pilot.candidates).to(run.target.like())
    candidates = candidates.unsqueeze(-1).expand(-1, len(sought.betas))
    steps, shape = pilot.sizes(run)[0], (*candidates.shape, 1, pilot.chains)
    seen = yield from _tried(
        run, sought, candidates, lambda: run.target.initial(shape, run.generator), (steps, steps // 2, False)
    )
    return _read_off(seen, candidates, sought.wanted)


def closer_look(run: PilotRun[Any], sought: Sought, near: StepSizes, pilot: Pilot) -> Steps[StepSizes]:
    """A few candidates around those of `near`, by chains that go on from its states.

    It ends when the acceptances are known to `PRECISION`. Where they are all too high, or all too low, it
    looks again, higher up or further down, as far as `Sought.reach` goes or `MOVES` looks come;
    `StepSizes.unfinished` says where it wanted one more.
    """
    low, high = sought.reach(run.target)
    steps, spread = pilot.sizes(run)[1], torch.tensor(AROUND).to(run.target.like()).unsqueeze(-1)
    centre, sizes, theta, evaluations = near.sizes.to(spread), near.sizes.clone(), near.theta.clone(), 0
    acceptance = spread.new_zeros((len(AROUND), len(sizes)), dtype=torch.float64)
    left, unfinished = torch.arange(len(sizes)), torch.zeros(len(sizes), dtype=torch.bool)
    falling = unfinished.clone()
    for _ in range(MOVES):
        candidates = (spread * centre).clamp(low, high)
        start = theta[left].expand(len(AROUND), *theta[left].shape)
        seen = yield from _tried(
            run, sought.part(left), candidates, partial(torch.clone, start), (steps, steps // 4, True)
        )
        found = _read_off(seen, candidates, sought.wanted)
        sizes[left], theta[left], acceptance[:, left] = found.sizes, found.theta, found.acceptance
        evaluations += found.evaluations * len(left)
        below = (found.acceptance[0] < sought.wanted) & (candidates[0] > low)
        above = (found.acceptance[-1] >= sought.wanted) & (candidates[-1] < high)
        again = below | above
        unfinished[left] = again.cpu()
        fall = found.acceptance[0] - found.acceptance[-1]
        falling[left] = (fall > SURE * seen["error"][[0, -1]].square().sum(0).sqrt()).cpu()
        if not bool(again.any()):
            break
        centre, left = torch.where(below, candidates[0], candidates[-1])[again], left[again.cpu()]
    seen_last, wanted = acceptance.cpu(), torch.full_like(sizes, sought.wanted)
    reached = torch.where(seen_last[0] < wanted, seen_last[0], wanted).maximum(seen_last.amin(0))
    return StepSizes(sizes, acceptance, theta, -(-evaluations // len(sizes)), reached, unfinished, falling)


def _tried(
    run: PilotRun[Any],
    sought: Sought,
    candidates: Tensor,
    start: Callable[[], Tensor],
    length: tuple[int, int, bool],
) -> Steps[Values]:
    """Chains of every candidate ``(candidates, K)`` at every beta: mean ``acceptance``, its ``error``.

    Args:
        start: their initial states.
        length: steps, those of them that are not measured, and whether the walk ends before the last one
            where the standard errors are small.
    """
    target, ladder, (steps, burn_in, early) = run.target, sought.betas.to(candidates), length
    kernel, ladder = sought.kernel(candidates), ladder.reshape(1, -1, 1, 1)

    def begin() -> Values:
        state = kernel.start(target, start(), ladder, run.generator)
        return {"state": state, "total": torch.zeros_like(state.log_prob.double()), "evaluations": 0}

    def step(values: Values) -> bool:
        try:
            values["state"], info = kernel.step(target, values["state"], ladder, run.generator)
        except RuntimeError as error:
            if values["steps"] or isinstance(error, torch.OutOfMemoryError):
                raise
            raise ValueError(
                f"a step of {type(kernel).__name__} with a tensor of {kernel.step_name}s, one for each of "
                f"{len(candidates)} candidates, fails: {failure(error)}"
            ) from error
        values["evaluations"] += info.evaluations
        counted = values["steps"] + 1 - burn_in
        if counted > 0:
            values["total"] += info.acceptance
        if not early or counted < CHECKED or counted % CHECKED:
            return False
        return bool((_errors(values["total"], counted).mean(0) <= PRECISION * sought.wanted).all())

    values = yield from run.walk(begin, step, steps)
    counted = values["steps"] - burn_in
    acceptance = values["total"].mean((-2, -1)) / counted
    check_finite(run.target, values["state"].log_prob, acceptance)
    run.note(
        "step sizes", steps=values["steps"], beta=sought.betas, step_size=candidates, acceptance=acceptance
    )
    return {**values, "acceptance": acceptance, "error": _errors(values["total"], counted)}


def _errors(total: Tensor, counted: int) -> Tensor:
    """Standard errors ``(candidates, K)`` of mean acceptances, from the sums of each chain."""
    means = total.flatten(2) / counted
    return means.std(-1) / math.sqrt(means.shape[-1])


def _read_off(seen: Values, candidates: Tensor, wanted: float) -> StepSizes:
    sizes = first_crossing(candidates, seen["acceptance"], wanted)
    nearest = (candidates.double() / sizes).log().abs().argmin(0)
    theta = seen["state"].theta[nearest, torch.arange(len(sizes), device=nearest.device)]
    return StepSizes(sizes.cpu(), seen["acceptance"], theta, seen["evaluations"])


def tune_rungs(
    run: PilotRun[Any],
    kernel: Kernel,
    betas: Tensor,
    acceptance: float,
    near: StepSizes | None = None,
) -> Steps[tuple[Tensor, int, dict[str, Any]]]:
    """Step sizes ``(K,)`` of the rungs or levels `betas` around `kernel`, the evaluations spent, a report.

    Args:
        near: what is known about them already.
    """
    sought = Sought(family_of(kernel), betas, acceptance)
    if near is None:
        found = yield from tune_step_size(run, sought, PER_RUNG)
    else:
        found = yield from closer_look(run, sought, near, PER_RUNG)
    return found.sizes, found.evaluations * len(betas), shortfall(run, sought, found)
