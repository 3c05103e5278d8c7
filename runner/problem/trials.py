"""Trials of the parts of a problem: its target, its kernel and its metrics, on a few states."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from torch import Tensor

from metrics.discrepancy.log_mmd import LogMMD
from metrics.trial import check_attributes, try_metric
from runner.execution.errors import UnservedError, UserError, one_sentence, warn
from runner.integrity.own_code import is_ours
from runner.problem.build import Problem, beta
from runner.problem.cached_reference_sample import check_held_out
from runner.problem.gradient_warning import warn_of_gradient
from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.not_compiled import NotCompiledError
from samplers.kernel import Info
from samplers.stepper import Stepper
from samplers.trial.step_trial import try_step
from targets.randomness import Streams
from targets.target import Target
from targets.trial.claims import try_claims
from targets.trial.failures import failure
from targets.trial.pairwise_terms import try_pairwise_terms
from targets.trial.probabilities_trial import try_probabilities
from targets.trial.target_trial import try_modes, try_target

TRIAL_SEEDS, TRIAL_CHAINS, TRIAL_STEPS = (0, 1), 3, 3
"""Of the draws that metrics are tried on; two different numbers, so that no axis is taken for another."""

STAND_INS = 100
"""States in place of each reference sample that is still to be made."""


def check_kernel(problem: Problem) -> None:
    """Tries the kernel's `init` and `step` on two initial states; of one that is to be tuned, its example.

    Raises:
        UserError: if it refuses the target, or does not do what a kernel must.
    """
    try:
        (problem.tunable or problem.kernel).check(problem.target)
        small = replace(problem, settings=replace(problem.settings, chains=2))
        start = small.start(problem.kernel.axes, [0])
        if _lacks_reference_sample(problem.target):
            problem.kernel.init(problem.target, start, beta(problem))
        else:
            try_step(problem.kernel, problem.target, start, beta(problem))
    except ValueError as error:
        raise UnservedError(f"sampler: {one_sentence(error)}.") from error


def check_traceable(problem: Problem) -> None:
    """Traces a step of two chains, unless the kernel is still to be tuned.

    Raises:
        UserError: if it cannot be compiled.
    """
    if problem.tunable is not None:
        return
    small = replace(problem, settings=replace(problem.settings, chains=2)).prepared()
    streams = CounterStreams([0], "trial", problem.device)
    start = small.start(small.kernel.axes, [0])
    state = small.kernel.start(small.target, start, beta(problem), streams)
    try:
        Stepper(small.kernel, small.target, beta(problem), streams).trace(state)
    except NotCompiledError as error:
        raise UnservedError(f"compile=true: {error}; compile=auto goes on without compiled steps.") from error
    except Exception as error:
        if _lacks_reference_sample(problem.target):
            return  # The step may need it; it is compiled after the training.
        if isinstance(error, ValueError):
            raise UnservedError(f"sampler: {one_sentence(error)}.") from error
        raise


def _lacks_reference_sample(target: Target) -> bool:
    """Whether the reference sample, from which a step may draw, is still to be made with the model."""
    held_out = getattr(target, "held_out", None)
    return held_out is not None and not len(held_out)


def check_metrics(problem: Problem) -> None:
    """Builds the metrics of a run; a warning names those left out for want of draws from the target.

    Tries those that are the user's own: what one gives is else seen at its first record, after the work.

    Raises:
        UserError: if one cannot be built, does not do what a metric must, or the target or the kernel cannot
            serve it.
    """
    suite = problem.suite_before()
    if suite.undrawn:
        names, kernel = ", ".join(suite.undrawn), type(problem.kernel).__name__
        warn(f"left out: the metrics {names} (the states of {kernel} are no draws from the target).")
    if any(isinstance(metric, LogMMD) for metric in suite.metrics.values()):
        check_held_out(problem)
    own = [name for name, metric in suite.metrics.items() if not is_ours(type(metric))]
    if not own:
        return
    problem = _with_reference_sample(problem)
    chains = _few_chains(problem, own)
    draws = _few_draws(problem, chains)
    try:
        for name in own:
            check_attributes(name, suite.metrics[name])
        if not draws:
            return
        for name in own:
            make = partial(problem.suite, chains=chains, only=name)
            try_metric(name, partial(make, TRIAL_SEEDS), draws, partial(make, TRIAL_SEEDS[:1]))
        together = problem.suite(TRIAL_SEEDS, chains)
        for step, (theta, info) in enumerate(draws, start=1):
            together.update(step, theta, info)
        together.result()
    except ValueError as error:
        raise UserError(f"metric: {one_sentence(error)}.") from error


def value_names(problem: Problem, metric: str) -> list[str] | None:
    """Names of the values that a metric gives after a few steps; None where it cannot be tried on any.

    Raises:
        UserError: if the metric cannot be built, or the target or the kernel cannot serve it.
    """
    problem = _with_reference_sample(problem)
    chains = _few_chains(problem, [metric])
    suite, draws = problem.suite(TRIAL_SEEDS, chains, only=metric), _few_draws(problem, chains)
    with suppress(ValueError):
        for step, (theta, info) in enumerate(draws, start=1):
            suite.update(step, theta, info)
        return list(suite.result())
    return None


def _with_reference_sample(problem: Problem) -> Problem:
    """The same problem; of a model that is still to be trained with any states as its reference sample."""
    if not _lacks_reference_sample(problem.target):
        return problem
    target = copy.deepcopy(problem.target)
    for place, name in enumerate(("reference", "held_out")):
        states = target.initial((1, STAND_INS), Streams([place], "trial", problem.device))
        setattr(target, name, states[0])
    return replace(problem, target=target)


def _few_chains(problem: Problem, own: Sequence[str]) -> int:
    """`TRIAL_CHAINS`; where a metric cannot be built for so many, as many as the run has."""
    try:
        for name in own:
            problem.suite(TRIAL_SEEDS, TRIAL_CHAINS, only=name)
    except UserError:
        return problem.settings.chains
    return TRIAL_CHAINS


def _few_draws(problem: Problem, chains: int) -> list[tuple[Tensor, Info]]:
    """Draws of a few steps, or initial states where the kernel cannot step yet since it is still to be tuned.

    None where such a kernel has replicas or levels: what the `Info` of its steps holds is not known.
    """
    small = replace(problem, settings=replace(problem.settings, chains=chains))
    kernel, target, one = problem.kernel, problem.target, beta(problem)
    streams = Streams(TRIAL_SEEDS, "trial", problem.device)
    draws: list[tuple[Tensor, Info]] = []
    with suppress(Exception):
        state = kernel.start(target, small.start(kernel.axes, TRIAL_SEEDS), one, streams)
        for _ in range(TRIAL_STEPS):
            state, info = kernel.step(target, state, one, streams)
            draws.append((kernel.draws(state), info))
        return draws
    if kernel.axes or kernel.has_levels:
        return []
    ones = target.like().new_ones(len(TRIAL_SEEDS), chains)
    info = Info(acceptance=ones, jump=ones, evaluations=1)
    return [(target.initial(ones.shape, streams), info) for _ in range(TRIAL_STEPS)]


def check_target(problem: Problem) -> None:
    """Refuses a target whose initial states, or log density at two of them, are not what they must be.

    Raises:
        UserError: naming the target, what it gave and what was expected.
    """
    name, target = problem.config.target._target_, problem.target
    small = replace(problem, settings=replace(problem.settings, chains=2))
    try:
        theta = small.start((), [0])
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        what = "sampled exactly, for task.start=exact" if problem.settings.start == "exact" else "evaluated"
        raise UserError(f"The target {name} cannot be {what}: {failure(error)}.") from error
    if theta.shape != (1, 2, *target.space.event_shape):
        raise UserError(
            f"The target {name} gave initial states of shape {tuple(theta.shape)}, "
            f"{(1, 2, *target.space.event_shape)} was expected."
        )
    try:
        try_target(str(name), target, theta, gradient=False)
        try_modes(str(name), target, theta)
        try_probabilities(str(name), target)
        try_pairwise_terms(str(name), target)
        try_claims(str(name), target)
    except ValueError as error:
        raise UserError(str(error)) from error
    if problem.kernel.needs_gradient:
        try:
            try_target(str(name), target, theta, gradient=True)
        except ValueError as error:
            raise UnservedError(str(error)) from error
        warn_of_gradient(str(name), target)
