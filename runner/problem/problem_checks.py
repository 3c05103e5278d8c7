"""Checks of a problem before any work: its target, kernel and metrics are tried on a few states."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from runner.execution.errors import UserError, one_sentence
from runner.problem.build import Problem, beta


def check_kernel(problem: Problem) -> None:
    """Tries the kernel's `init` on two initial states, unless it is still to be tuned.

    Raises:
        UserError: if it refuses the target.
    """
    try:
        (problem.tunable or problem.kernel).check(problem.target)
    except ValueError as error:
        raise UserError(f"sampler: {one_sentence(error)}.") from error
    if problem.tunable is not None:
        return
    small = replace(problem, settings=replace(problem.settings, chains=2))
    try:
        problem.kernel.init(problem.target, small.start(problem.kernel.axes, [0]), beta(problem))
    except ValueError as error:
        raise UserError(f"sampler: {one_sentence(error)}.") from error


def check_metrics(problem: Problem) -> None:
    """Builds the metrics for two chains.

    Raises:
        UserError: if one cannot be built, or the target or the kernel cannot serve it.
    """
    problem.suite([0], chains=2)


def check_target(problem: Problem) -> None:
    """Refuses a target whose log density is of the wrong shape or not finite at two initial states.

    Raises:
        UserError: naming the target, what it gave and what was expected.
    """
    name, target = problem.config.target._target_, problem.target
    small = replace(problem, settings=replace(problem.settings, chains=2))
    try:
        theta = small.start((), [0])
        log_prob = target.log_prob(theta)
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"The target {name} cannot be evaluated: {type(error).__name__}: {one_sentence(error)}"
        ) from error
    if theta.shape != (1, 2, *target.space.event_shape):
        raise UserError(
            f"The target {name} gave initial states of shape {tuple(theta.shape)}, "
            f"{(1, 2, *target.space.event_shape)} was expected."
        )
    if not isinstance(log_prob, Tensor) or log_prob.shape != (1, 2):
        got = tuple(log_prob.shape) if isinstance(log_prob, Tensor) else type(log_prob).__name__
        raise UserError(f"The target {name} gave log densities of shape {got}, (1, 2) was expected.")
    if not bool(log_prob.isfinite().all()):
        raise UserError(
            f"The target {name} gave the log density {log_prob.flatten().tolist()} at its initial states, "
            "finite numbers were expected."
        )
    if problem.kernel.needs_gradient:
        try:
            target.log_prob_and_grad(theta)
        except Exception as error:
            raise UserError(
                f"The target {name} gives no gradient, which the sampler needs "
                f"({type(error).__name__}: {one_sentence(error)})."
            ) from error
    if log_prob.dtype != theta.dtype:
        raise UserError(
            f"The target {name} gave log densities of type {log_prob.dtype}, {theta.dtype} was expected."
        )
