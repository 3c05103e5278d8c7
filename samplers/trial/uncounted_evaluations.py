"""Whether a kernel evaluates the target more often than it reports."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State
from samplers.trial.watched_target import Calls, watched_target
from targets.randomness import Generator, Streams
from targets.target import Target

STEPS = 10
"""How many steps are watched: one in which no chain rejects does not show what its evaluation was for."""

FIRST_STEPS = 2
"""How many are watched of a kernel that reports evaluations, if these do not show more than it reports."""

UNEVEN = 0.5
"""How many evaluations a step may take beyond those reported: a kernel that reports whole numbers may round
them, and evaluate again now and then what it keeps."""


def check_uncounted(
    name: str, kernel: Kernel, target: Target, state: State, beta: Tensor, generator: Generator
) -> None:
    """Refuses a kernel whose steps from `state` evaluate the target and report 0 evaluations.

    A kernel that draws without the log density, such as an exact one, may look it up for the new state, which
    holds it. So `log_prob` of the new states is no evaluation where no chain can reject.

    Raises:
        ValueError: naming the method of the target that was called.
    """
    calls: Calls = []
    watched = watched_target(target, calls)
    for _ in range(STEPS):
        calls.clear()
        state, info = kernel.step(watched, state, beta, generator)
        made = [method for method, theta in calls if not _is_look_up(method, theta, state, info)]
        if made and info.evaluations == 0:
            raise ValueError(
                f"{name}.step must count its evaluations of the target in Info.evaluations, it called "
                f"{made[0]} and counted 0"
            )


def check_counted(kernel: Kernel, target: Target, state: State, both: Tensor, beta: Tensor) -> None:
    """Refuses a kernel whose steps from `state` evaluate the target more often than they report.

    Not counted are noisy estimates, which are cheaper than an evaluation, evaluations by methods of the
    target itself, and those that all chains share: they are as many beside another seed.

    Args:
        state: of the chains of one seed, ``(*axes, 1, chains)``.
        both: where they and those of another seed stand, ``(*axes, 2, chains, *event_shape)``.

    Raises:
        ValueError: naming the evaluations counted and those reported.
    """
    made, reported = 0.0, 0.0
    # What cannot be watched, such as a target that cannot be copied, is left uncounted.
    with suppress(Exception):
        made, reported = _made_and_reported(kernel, target, state, both, beta)
    if made - reported > UNEVEN:
        base = getattr(kernel, "base", None)
        name, around = type(kernel).__name__, ""
        if isinstance(base, Kernel):
            name, around = type(base).__name__, f" inside {name}"
        raise ValueError(
            f"{name}.step must count all evaluations of the target in Info.evaluations, a step{around} made "
            f"{made:.3g} for each chain and counted {reported:.3g}"
        )


def _made_and_reported(
    kernel: Kernel, target: Target, state: State, both: Tensor, beta: Tensor
) -> tuple[float, float]:
    """Evaluations for each chain in a step, on average: those counted, and those reported."""
    chains = state.log_prob.shape[len(kernel.axes) :].numel()
    seen = _spent(kernel, target, state, beta, [0], FIRST_STEPS)
    if seen.made / chains - seen.reported <= UNEVEN:
        return seen.made / chains, seen.reported
    alone = _spent(kernel, target, state, beta, [0], STEPS)
    together = _spent(kernel, target, kernel.init(target, both, beta), beta, [0, 1], STEPS)
    made = together.made - alone.made
    if together.certain:
        made -= together.look_ups - alone.look_ups
    return made / chains, alone.reported


class _Spent(NamedTuple):
    """Averages over steps.

    Attributes:
        made: states at which a step evaluates the target, all chains together.
        look_ups: those among them that may only tell the new states' log density, in one call.
        reported: what the step reports for each chain.
        certain: whether no chain could reject.
    """

    made: float
    look_ups: float
    reported: float
    certain: bool


def _spent(
    kernel: Kernel, target: Target, state: State, beta: Tensor, seeds: Sequence[int], steps: int
) -> _Spent:
    """What steps from `state` spend."""
    calls: Calls = []
    watched, streams = watched_target(target, calls), Streams(seeds, "trial", state.theta.device)
    made, look_ups, reported, certain = 0, 0, 0, True
    for _ in range(steps):
        calls.clear()
        state, info = kernel.step(watched, state, beta, streams)
        sizes = [target.space.batch_shape(states).numel() for _, states in calls]
        made += sum(size for size, call in zip(sizes, calls, strict=True) if call[0] != "noisy_log_prob")
        look_ups += state.log_prob.numel() * any(_is_look_up(*call, state, info) for call in calls)
        reported += info.evaluations
        certain = certain and bool((info.acceptance == 1.0).all())
    return _Spent(made / steps, look_ups / steps, reported / steps, certain)


def _is_look_up(method: str, theta: Tensor, after: State, info: Info) -> bool:
    """Whether a call only told the new states' log density, on which nothing of the step depends."""
    new = theta.shape == after.theta.shape and torch.equal(theta, after.theta)
    return new and method == "log_prob" and bool((info.acceptance == 1.0).all())
