"""What a reader must know of a pilot: step sizes that are not accepted as wanted, a barrier it cannot see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from samplers.pilot_run import PilotRun
from samplers.tuning.pilots.sought_step_sizes import PRECISION, Sought, StepSizes
from samplers.tuning.tunable import WARNINGS
from targets.spaces import Ordinal, Real
from targets.target import Target

NOISE = 3.0 * PRECISION
"""Share of the wanted acceptance by which one that a pilot reaches differs by chance."""

SATURATED = 0.95
"""Rejection of a swap above which it hardly says how far apart two neighbours are."""


def shortfall(
    run: PilotRun[Any], sought: Sought, found: StepSizes, speeds: Tensor | None = None
) -> dict[str, Any]:
    """For the report of a tuning: the acceptance at the step sizes, and a warning; empty where all is well.

    A step size falls short where it lies at an end of what is tried and its acceptance is below half of the
    wanted one or, on the reals, another than the wanted one. In a discrete space the largest step is a nearly
    uniform proposal, which no longer one would improve on; but on ordinal levels, above all on two of them,
    its Gaussian factor still matters, and it also falls short where it is accepted more than wanted and less
    than shorter ones are. It does, too, where the search ended before an end, at another acceptance than the
    wanted one.

    Args:
        speeds: where replicas share one step size, and that of each is it times its speed ``(K,)``. The
            shortest one serves all of them, so others cannot fall short, and the warning names that.
    """
    assert found.reached is not None
    assert found.unfinished is not None
    assert found.falling is not None
    low, high = sought.reach(run.target)
    off = (found.reached - sought.wanted).abs() > NOISE * sought.wanted
    far = off if isinstance(run.target.space, Real) else found.reached < sought.wanted / 2
    lowest, longest = found.sizes < 1.001 * low, found.sizes > 0.999 * high
    short = far & (lowest | longest) | off & found.unfinished
    if isinstance(run.target.space, Ordinal) and _taken(sought, run.target, 2.0 * high):
        short |= off & longest & (found.reached > sought.wanted) & found.falling
    times = found.sizes if speeds is None else found.sizes / speeds
    if speeds is not None:
        short &= times == times.min()
    if not bool(short.any()):
        return {}
    place = int(short.long().argmax())
    name = sought.kernel(found.sizes.reshape(1, -1)).step_name
    at = f" at beta={sought.betas[place]:.4g}" if len(sought.betas) > 1 else ""
    speed = 1.0 if speeds is None else float(speeds[place])
    tried, size = (low / speed, high / speed), float(times[place])
    reached = float(found.reached[place])
    missed = Missed(name, tried, sought.wanted, size, reached)
    if found.unfinished[place]:
        missed = Unfinished(name, tried, sought.wanted, size, reached)
    elif isinstance(run.target.space, Ordinal) and reached > sought.wanted:
        missed = replace(missed, remedy="")
    return {"reached_acceptance": found.reached.tolist(), WARNINGS: [missed.sentence(at)]}


def _taken(sought: Sought, target: Target, size: float) -> bool:
    """Whether step sizes of `size` are not refused, as a radius above the dimension is."""
    try:
        sought.kernel(torch.full((1, len(sought.betas)), size)).check(target)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Missed:
    """A search for a step size, called `name`, from `tried[0]` to `tried[1]` that ended at `size`.

    Attributes:
        wanted, reached: the acceptance that was looked for, and the one at `size`.
        remedy: what a user may give besides the step size itself; empty where a longer one alone helps.
    """

    name: str
    tried: tuple[float, float]
    wanted: float
    size: float
    reached: float
    remedy: str = "the target in other units"

    def sentence(self, at: str = "") -> str:
        """The warning; `at` says where, such as `` at beta=0.5``."""
        low, high = self.tried
        given = f"sampler.{self.name}, or {self.remedy}" if self.remedy else f"a longer sampler.{self.name}"
        return (
            f"no {self.name.replace('_', ' ')} from {low:g} to {high:g} is accepted with probability "
            f"{self.wanted:g}{at}: at {self.size:g} it is {self.reached:.2f}; give {given}"
        )


@dataclass(frozen=True)
class Unfinished(Missed):
    """A search that ended at `size` before it had tried all."""

    remedy: str = "a larger tuning.effort"

    def sentence(self, at: str = "") -> str:
        low, high = self.tried
        return (
            f"the search from {low:g} to {high:g} for a {self.name.replace('_', ' ')} that is accepted with "
            f"probability {self.wanted:g}{at} ended early: at {self.size:g} it is {self.reached:.2f}; "
            f"give sampler.{self.name}, or {self.remedy}"
        )


def unseen_barrier(betas: Sequence[float], rejections: Sequence[float], remedy: str) -> dict[str, Any]:
    """A warning where the barrier of a pilot's ladder is but a lower bound; empty where it is not.

    A rejection is 1 at most, however far apart two neighbours are, so what they add to the barrier is lost
    the more, the more they reject: all of them by half and more, or one pair nearly always.

    Args:
        betas: the ladder ``(K,)``.
        rejections: of its neighbours ``(K - 1,)``; their sum is the barrier.
        remedy: what a user may give; in words, since a command names the keys of a ladder in two ways.
    """
    barrier, most, worst = sum(rejections), len(rejections), max(rejections)
    bound = f"the barrier of {barrier:.1f} is a lower bound, since"
    if barrier > most / 2:
        sentence = f"{bound} the {len(betas)} rungs of the pilot see no more than {most}; give {remedy}"
        return {WARNINGS: [sentence]}
    if worst <= SATURATED:
        return {}
    place = rejections.index(worst)
    sentence = (
        f"{bound} the pilot rejects {worst:.0%} of the swaps between beta={betas[place]:.4g} and "
        f"{betas[place + 1]:.4g}, which hides how far apart they are; give {remedy}, or the target on "
        "another scale"
    )
    return {WARNINGS: [sentence]}


def joined(report: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both reports as one, with the warnings of both."""
    warnings = [*report.get(WARNINGS, ()), *other.get(WARNINGS, ())]
    return {**report, **other, **({WARNINGS: warnings} if warnings else {})}
