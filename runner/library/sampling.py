"""Chains of a kernel on a target in one call: objects, names, or a function and its space."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict, Unpack

from torch import Tensor

from metrics.library.asked_draws import burn_in_asked, require_arrays, require_draws
from metrics.library.chain_draws import ChainDraws
from metrics.library.run_chains import run_chains, try_given
from metrics.library.thread_count import thread_count
from metrics.library.torch_modes import ordinary_modes
from runner.execution.errors import unknown, warn
from runner.problem.gradient_warning import warn_of_gradient
from samplers.kernel import Kernel
from samplers.tuning.tunable import WARNINGS, Tunable
from targets.checks import whole_number
from targets.function_target import FunctionTarget
from targets.randomness import Streams
from targets.target import Target
from targets.trial.target_trial import require_target

if TYPE_CHECKING:
    from targets.spaces import Space

TRIED = 2
"""Chains with which a target is tried before a sampler is tuned to it."""

TUNING_SEED = 0
"""As in the runner, tuning has random numbers of its own, the same for every run."""


class Schedule(TypedDict, total=False):
    """Which states are draws; see `metrics.library.run_chains.run_chains`."""

    burn_in: int
    thin: int


@ordinary_modes()
def sample(
    target: Target | Callable[[Tensor], Tensor] | str,
    kernel: Kernel | Tunable | str,
    steps: int = 1000,
    chains: int = 4,
    seed: int = 0,
    space: Space | None = None,
    **schedule: Unpack[Schedule],
) -> ChainDraws:
    """Draws of `chains` independent chains of `kernel` on `target`, with what every step did.

        runner.sample("mog", "pt_dmala", steps=2000).metrics(["tv", "emc"])
        runner.sample(lambda x: -x.square().sum(-1) / 2, "mala", space=targets.Real(3)).to_arviz()

    Nothing is written, and Hydra is not used. The draws are those of the runner's task ``sample`` with the
    same seed, dtype and device.

    Args:
        target: a `Target`, a name (`runner.named_target`), or a function from states
            ``(*batch, *event_shape)`` to log densities ``(*batch)`` on `space`.
        kernel: a kernel, a `Tunable`, which is tuned first (`samplers.configured`), or a name
            (`runner.named_sampler`).
        steps: of every chain, the burn-in included.
        seed: of the starts and of the chains.
        space: of the states of a function; a `Target` has its own.
        schedule: ``burn_in``, steps before the first draw, by default a fifth; ``thin``, steps between draws.

    Raises:
        UserError: for an unknown name, also of an argument.
        TypeError: if `target` or `kernel` is something else, or a function comes without a space.
        ValueError: as `metrics.run_chains`, or if the kernel cannot be tuned to the target; what is asked for
            is looked at before the tuning.
    """
    _check_names(schedule)
    if not isinstance(target, str):
        return _sampled(_target(target, space), kernel, steps, chains, seed, schedule)
    from runner.library.named_parts import THREADS  # half a second more, for names alone

    with thread_count(THREADS):  # as the run of that name, so that sums are rounded as there
        return _sampled(_target(target, space), kernel, steps, chains, seed, schedule)


def _check_names(schedule: Schedule) -> None:
    """Raises UserError, with the nearest argument, for what `Schedule` has not."""
    own = Schedule.__annotations__
    for name in schedule:
        if name not in own:
            allowed = {*inspect.signature(sample).parameters, *own} - {"schedule"}
            raise unknown("argument", name, allowed)


def _sampled(
    on: Target, kernel: Kernel | Tunable | str, steps: int, chains: int, seed: int, schedule: Schedule
) -> ChainDraws:
    """`sample` on the target `on`."""
    described = kernel if isinstance(kernel, str) else type(kernel).__name__
    if isinstance(kernel, str):
        from runner.library.named_parts import named_sampler  # half a second more, for names alone

        kernel = named_sampler(kernel, whole_number("steps", steps))
    if isinstance(kernel, Tunable):
        require_target(on)
        # A pilot may take minutes, and what `run_chains` refuses is known before.
        burn_in_asked(chains, steps, schedule.get("burn_in"), schedule.get("thin", 1), seed)
        require_draws(kernel.example, levels=kernel.example.has_levels)
        require_arrays(on)
        kernel.check(on)
        # Before the pilot, whose errors would be those of the target.
        start = on.initial((1, TRIED), Streams([TUNING_SEED], "trial", on.like().device))
        try_given(on, start, gradient=kernel.example.needs_gradient)
        streams = Streams([TUNING_SEED], "tuning", on.like().device)
        try:
            found = kernel.tune(on, streams)
        except ValueError as error:
            raise ValueError(f"{described} cannot be tuned to this target: {error}") from error
        for sentence in found.report.get(WARNINGS, ()):
            warn(f"tuning {described}: {sentence}.")
        kernel = kernel.kernel_at(found.hyperparameters)
    if isinstance(kernel, Kernel) and kernel.needs_gradient:
        warn_of_gradient(type(on).__name__, on)
    return run_chains(on, kernel, chains, steps, seed=seed, **schedule)


def _target(given: Target | Callable[[Tensor], Tensor] | str, space: Space | None) -> Target:
    """The target that was given, named, or described by a function and its space."""
    if isinstance(given, Target | str):
        if space is not None:
            raise TypeError(f"space is for a function; a target has its own, {space} was given")
        if isinstance(given, Target):
            return given
        from runner.library.named_parts import named_target

        return named_target(given)
    if isinstance(given, type) or not callable(given) or space is None:
        what = f"the class {given.__name__} itself" if isinstance(given, type) else "a function without it"
        raise TypeError(
            "target must be a targets.Target, a name, or a function together with space=..., such as "
            f"space=targets.Binary(10); {what if callable(given) else repr(given)} was given"
        )
    return FunctionTarget(given, space)
