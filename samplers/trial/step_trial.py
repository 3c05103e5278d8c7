"""Tries a step of a kernel, before chains run with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, State
from samplers.trial.changed_attributes import check_unchanged, held
from samplers.trial.uncounted_evaluations import check_counted, check_uncounted
from targets.checks import described
from targets.randomness import Streams
from targets.spaces import Discrete
from targets.target import Target
from targets.trial.failures import failure, is_refusal
from targets.trial.global_generators import without_global_numbers

OF_GENERATOR = (
    "its random numbers must come from the generator that it is given, as by targets.randomness.uniform"
)
ROUNDING = 1e-3
"""How far a cached log density or gradient may be from the target's own, as a share of its size."""

STEPS = 8
"""Steps that are taken at most until a chain has moved: only then it shows whether all moves with it."""


@torch.no_grad()
def try_step(kernel: Kernel, target: Target, theta: Tensor, beta: Tensor) -> None:
    """Refuses a kernel that cannot step from `theta`, or whose calls do not give what `Kernel` says.

    What is wrong there does not always fail: an acceptance of another shape is spread over the chains, states
    outside of the space have a density, too, and numbers from a global generator change with whatever else
    draws from it.

    Args:
        theta: states ``(*axes, 1, chains, *event_shape)``.

    Raises:
        ValueError: as the kernel does, or naming what it gave and what was expected, in one sentence.
    """
    name = type(kernel).__name__
    state = _called(f"{name}.init", kernel.init, target, theta, beta)
    if not isinstance(state, State):
        raise ValueError(f"{name}.init must return a State, it gave {described(state)}")
    batch = target.space.batch_shape(theta)
    _check(f"{name}.init", "the state's theta", state.theta, theta.shape, theta.dtype)
    _check(f"{name}.init", "the state's log_prob", state.log_prob, batch)
    _check_swappable(kernel, target, state, beta)
    before = {"theta": state.theta.clone(), "log_prob": state.log_prob.clone()}
    # Not the random numbers of a run, which would be others then.
    streams = Streams([0], "trial", theta.device)
    times = [held(kernel, target)]
    given = _called(f"{name}.step", kernel.step, target, state, beta, streams)
    times.append(held(kernel, target))
    after, info = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if not isinstance(after, State) or not isinstance(info, Info):
        got = f"a pair of {described(after)} and {described(info)}" if info is not None else described(given)
        raise ValueError(f"{name}.step must return a pair of a State and an Info, it gave {got}")
    _check(f"{name}.step", "the state's theta", after.theta, theta.shape, theta.dtype)
    _check(f"{name}.step", "the state's log_prob", after.log_prob, batch)
    for what in ("acceptance", "jump"):
        _check(f"{name}.step", f"Info.{what}", getattr(info, what), batch[len(kernel.axes) :])
    _check_acceptance(name, info.acceptance)
    _check_evaluations(name, info.evaluations)
    for what, value in before.items():
        if not torch.allclose(value, getattr(state, what), 0.0, 0.0, equal_nan=True):
            raise ValueError(f"{name}.step must not change the state that it is given, it changed its {what}")
    _check_auxiliaries(name, state.aux, after.aux)
    _check_place(name, target, after)
    moved, _ = _called(f"{name}.step", kernel.step, target, after, beta, streams)
    check_unchanged(kernel, target, [*times, held(kernel, target)])
    other = target.initial(tuple(batch), Streams([1], "trial", theta.device))
    both = torch.cat([theta, other.to(theta)], len(batch) - 2)
    _check_seeds(kernel, target, both, beta, after, info)
    for _ in range(STEPS - 2):
        if not torch.equal(moved.theta, state.theta):
            break
        moved, _ = kernel.step(target, moved, beta, streams)
    _check_place(name, target, moved)
    if info.evaluations == 0:
        _called(f"{name}.step", check_uncounted, name, kernel, target, state, beta, streams)
    else:
        check_counted(kernel, target, state, both, beta)


def _called(what: str, function: Callable[..., Any], *arguments: object) -> Any:
    """What `function` gives for `arguments`.

    Raises:
        ValueError: where it fails with another error, ends the process or draws from a global generator.
    """
    with without_global_numbers(what, OF_GENERATOR):
        try:
            return function(*arguments)
        except (Exception, SystemExit) as error:
            if is_refusal(error):
                raise
            raise ValueError(f"{what} fails: {failure(error)}") from error


def _check(
    call: str, what: str, value: object, shape: tuple[int, ...], dtype: torch.dtype | None = None
) -> None:
    if not isinstance(value, Tensor) or value.shape != shape:
        got = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else described(value)
        raise ValueError(f"{call} must give {what} as a tensor of shape {tuple(shape)}, not {got}")
    if dtype is not None and value.dtype != dtype:
        raise ValueError(f"{call} must give {what} as {dtype}, not {value.dtype}")


def _check_seeds(
    kernel: Kernel, target: Target, both: Tensor, beta: Tensor, alone: State, info: Info
) -> None:
    """Whether the first step is the same where another seed shares the batch, as in `both`."""
    name, axis = type(kernel).__name__, alone.log_prob.dim() - 2
    streams = Streams([0, 1], "trial", both.device)
    state = _called(f"{name}.init", kernel.init, target, both, beta)
    together, found = _called(f"{name}.step", kernel.step, target, state, beta, streams)
    parts = {
        "state": (alone.theta, together.theta.narrow(axis, 0, 1)),
        "Info.acceptance": (info.acceptance, found.acceptance.narrow(-2, 0, 1)),
    }
    for what, (one, among) in parts.items():
        off = (one - among).abs() > ROUNDING * (1.0 + one.abs())
        if bool(off.any()):
            raise ValueError(
                f"{name}.step must move the chains of a seed alike whatever seeds share the batch, whose "
                f"axes are (seeds, chains); beside another seed its {what} has {float(among[off][0]):.6g} in "
                f"place of {float(one[off][0]):.6g}"
            )


def _check_acceptance(name: str, value: Tensor) -> None:
    """Whether these are probabilities; a NaN may be the target's, at the state that is proposed."""
    if not value.is_floating_point():
        raise ValueError(f"{name}.step must give Info.acceptance as floats, not {value.dtype}")
    outside = (value < 0.0) | (value > 1.0 + ROUNDING)
    if bool(outside.any()):
        raise ValueError(
            f"{name}.step must give Info.acceptance as probabilities from 0 to 1, it gave "
            f"{float(value[outside][0]):.6g}"
        )


def _check_evaluations(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(
            f"{name}.step must give Info.evaluations as a whole number of at least 0, not {described(value)}"
        )


def _check_auxiliaries(name: str, before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> None:
    """A checkpoint is read into the state of `init`: what a step adds or reshapes could not be read again."""
    for key in sorted(before.keys() | after.keys()):
        one, other = before.get(key), after.get(key)
        if one is None or other is None:
            which = "init gives" if other is None else "step gives"
            raise ValueError(f"{name}.init and {name}.step must give the same State.aux, only {which} {key}")
        if one.shape != other.shape or one.dtype != other.dtype:
            raise ValueError(
                f"{name}.init and {name}.step must give State.aux alike, {key} has shape {tuple(one.shape)} "
                f"and {one.dtype} in one, {tuple(other.shape)} and {other.dtype} in the other"
            )


def _check_swappable(kernel: Kernel, target: Target, state: State, beta: Tensor) -> None:
    """What moves between temperatures takes aux and gradient along: in `init` none may depend on beta."""
    base, persistent = getattr(kernel, "base", None), kernel.persistent_aux
    cached = {key: x for key, x in state.aux.items() if x.is_floating_point() and key not in persistent}
    if not isinstance(base, Kernel) or not (cached or state.grad is not None):
        return
    other = kernel.init(target, state.theta, beta / 2)
    if state.grad is not None and not _alike(state.grad, other.grad):
        raise ValueError(
            f"{type(base).__name__}.init must give a State.grad that does not depend on beta inside "
            f"{type(kernel).__name__}, since a state takes it along to other temperatures"
        )
    for key, value in cached.items():
        if not _alike(value, other.aux[key]):
            raise ValueError(
                f"{type(base).__name__}.init must give a State.aux that does not depend on beta inside "
                f"{type(kernel).__name__}, since a state takes it along to other temperatures; {key} does"
            )


def _alike(one: Tensor, other: Tensor | None) -> bool:
    """Whether both are the same, or of different shapes, which cannot be compared."""
    return other is None or one.shape != other.shape or torch.allclose(one, other, equal_nan=True)


def _check_place(name: str, target: Target, after: State) -> None:
    """Whether the new state lies in the space, and its log density and gradient are those of its theta."""
    if what := misplaced(target, after.theta, after.log_prob, target.log_prob(after.theta)):
        raise ValueError(f"{name}.step {what}")
    if after.grad is not None:
        _check_gradient(name, target, after.theta, after.grad)


def misplaced(target: Target, theta: Tensor, cached: Tensor, own: Tensor) -> str:
    """How the states that a sampler gave are wrong, as the end of a sentence; empty where they are not.

    Args:
        cached: the log densities in the state, ``(*batch)``.
        own: those that the target has at `theta`, ``(*batch)``; -inf outside of a constrained one's support.
    """
    space = target.space
    if isinstance(space, Discrete) and (first := space.outsider(theta)):
        return f"must stay in the space {space}, it went to {first}"
    off = ((cached - own).abs() > ROUNDING * (1.0 + own.abs())) & own.isfinite()
    off |= own.isneginf() & cached.isfinite()  # outside of a constrained target's support
    if not bool(off.any()):
        return ""
    kept, found = (float(value[off][0]) for value in (cached, own))
    return (
        f"must give the log density of its new theta as the state's log_prob, it gave {kept:.6g} where the "
        f"target has {found:.6g}"
    )


def _check_gradient(name: str, target: Target, theta: Tensor, given: Tensor) -> None:
    _check(f"{name}.step", "the state's grad", given, theta.shape)
    _, own = target.log_prob_and_grad(theta)
    event = tuple(range(len(target.space.batch_shape(theta)), theta.dim()))
    off = (given - own).abs() > ROUNDING * (1.0 + own.abs().amax(event, keepdim=True))
    if bool((off & own.isfinite()).any()):
        cached, found = (float(value[off][0]) for value in (given, own))
        raise ValueError(
            f"{name}.step must give the gradient of U at its new theta as the state's grad, untempered; it "
            f"gave {cached:.6g} where the target has {found:.6g}"
        )
