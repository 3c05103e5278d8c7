"""What a reader must know of a pilot: step sizes that are not accepted as wanted, a barrier it cannot see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samplers.pilot_run import PilotRun
from samplers.tuning.pilots.sought_step_sizes import Sought, StepSizes
from samplers.tuning.tunable import WARNINGS
from targets.spaces import Real


def shortfall(run: PilotRun[Any], sought: Sought, found: StepSizes) -> dict[str, Any]:
    """For the report of a tuning: the acceptance at the step sizes, and a warning; empty where all is well.

    A step size falls short where it lies at an end of what is tried and its acceptance is below half of the
    wanted one or, on the reals, more than half of the way from there to 1. In a discrete space the largest
    step is a nearly uniform proposal, which no longer one would improve on.
    """
    assert found.reached is not None
    low, high = sought.reach(run.target)
    short = found.reached < sought.wanted / 2
    if isinstance(run.target.space, Real):
        short = short | (found.reached > (1 + sought.wanted) / 2)
    short &= (found.sizes < 1.001 * low) | (found.sizes > 0.999 * high)
    if not bool(short.any()):
        return {}
    place = int(short.long().argmax())
    name = sought.kernel(found.sizes.reshape(1, -1)).step_name
    at = f" at beta={sought.betas[place]:.4g}" if len(sought.betas) > 1 else ""
    sentence = (
        f"no {name.replace('_', ' ')} from {low:g} to {high:g} is accepted with probability "
        f"{sought.wanted:g}{at}: at {found.sizes[place]:g} it is {found.reached[place]:.2f}; "
        f"give sampler.{name}, or the target in other units"
    )
    return {"reached_acceptance": found.reached.tolist(), WARNINGS: [sentence]}


def unseen_barrier(barrier: float, rungs: int) -> dict[str, Any]:
    """A warning where the `barrier` that so many rungs found is but a lower bound; empty where it is not.

    A rejection is 1 at most, however far apart two neighbours are, so what they add to the barrier is lost
    the more, the more they reject.
    """
    most = rungs - 1
    if barrier <= most / 2:
        return {}
    sentence = (
        f"the barrier of {barrier:.1f} is a lower bound, since the {rungs} rungs of the pilot see no more "
        f"than {most}; give more replicas (tempering.replicas) or a longer ladder (tempering.ladder)"
    )
    return {WARNINGS: [sentence]}


def joined(report: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both reports as one, with the warnings of both."""
    warnings = [*report.get(WARNINGS, ()), *other.get(WARNINGS, ())]
    return {**report, **other, **({WARNINGS: warnings} if warnings else {})}
