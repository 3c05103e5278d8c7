"""``hydra/sweeper=optuna``: searches hyperparameters, a trial being a job like any other.

Hydra's plugin (hydra-optuna-sweeper 1.3.0) asks for an Optuna below 3, whose SQLite storage does not start
beside SQLAlchemy 2.1; it knows neither the identity of a run nor its checkpoint. So Optuna is asked here.
"""

from __future__ import annotations

import math
import shlex
import sys
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.types import Override, Transformer

from runner.config.choices import values_of
from runner.config.compose import searched
from runner.config.output_root import check_searched_folder
from runner.config.overrides import is_hydra, parse
from runner.config.values import fails_fast
from runner.execution import signals
from runner.execution.errors import UserError
from runner.execution.manifest import source
from runner.execution.progress import Progress
from runner.sweep.ending import ended
from runner.sweep.job_runner import compute
from runner.sweep.jobs import Job
from runner.sweep.live_logging import log_done
from runner.sweep.outcome import Outcome
from runner.sweep.search.interval import search_interval
from runner.sweep.search.journal import ask_again, journal_lock
from runner.sweep.search.objective import objective_of
from runner.sweep.search.search_space import Search
from runner.sweep.search.search_trials import (
    REFUSED,
    finished,
    journal_path,
    objective_measured,
    refuse,
    reopened,
    tell,
    trial_jobs,
    trial_value,
    tried,
)
from runner.sweep.search.whole_keys import in_whole_numbers

if TYPE_CHECKING:
    import optuna


def run_search(search: Search) -> int:
    """Computes the trials that are not done, and prints the best; the exit status.

    A trial that is not measured, since a run of it failed or is left to another process, is one of the trials
    of this command and is asked again by the next one. With ``sweep.fail_fast`` it is the last one. One that
    is refused before it starts is never measured: the search goes on elsewhere.

    Raises:
        UserError: where all trials are refused before they start.
        StorageError: where the disk refuses the journal.
        Interrupted: if the process was told to stop; the same command goes on with the same trials.
    """
    import optuna

    source()  # as in `runner.sweep.launch.run_one`
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    distributions = {key: optuna_distribution(override) for key, override in search.space.items()}
    values = {key: _any_value(each) for key, each in distributions.items()}
    first = trial_jobs(search, values)
    check_searched_folder(first[0].config)
    space = in_whole_numbers(
        search.space, [*search.lines, *(f"{key}={each}" for key, each in values.items())]
    )
    distributions = {key: optuna_distribution(override) for key, override in space.items()}
    objective_of(first[0].config)  # a wrong name is found before torch is imported
    fast = fails_fast(first[0].config)
    with signals.commanding(), Progress():
        objective = objective_measured(first)
    metric, root = objective.metric, first[0].config.output_root
    path, search_path = journal_path(search, objective, root), searched(hydra_lines(search))
    outcome, jobs = Outcome(), list[Job]()
    left = list[tuple[optuna.trial.Trial, list[Job]]]()
    with signals.commanding(), journal_lock(path) as lock, Progress():
        study = reopened(search, objective, path)
        while (number := len(finished(study)) + len(left)) < search.trials:
            # Each trial has a seed of its own, so that a search that goes on is one that never stopped.
            study.sampler = optuna.samplers.TPESampler(seed=search.seed * 1_000_003 + number)
            with signals.deferred():
                trial = study.ask(distributions)
            params = ", ".join(f"{key}={shown(each)}" for key, each in trial.params.items())
            where = f"trial {number + 1} of {search.trials}"
            try:
                own = trial_jobs(search, trial.params)
                problems = tried(own, metric)
            except UserError as error:
                lock.require()
                refuse(study, trial, error)
                print(f"{where}: refused, no {metric} with {params}: {error}")
                continue
            found = Outcome()
            for job in own:
                found.add(compute(job, search_path, problems))
            jobs += own
            outcome.add(found)
            value = trial_value(objective, own)
            lock.require()
            if value is None:
                left.append((trial, own))
                why = "failed" if found.failures else "left to another process"
                print(f"{where}: {why}, no {metric} with {params}")
                if found.failures and fast:
                    break
            else:
                tell(study, trial, value)
                print(f"{where}: {metric} = {value:.6g} with {params}")
        if jobs:
            log_done(jobs, outcome, search_path)
        status = ended(jobs, outcome)
        for trial, own in left:
            # Another process may have ended a run meanwhile.
            value = trial_value(objective, own)
            if value is None:
                ask_again(study, trial)
            else:
                tell(study, trial, value)
        found_one = _print_best(search, study, metric)
        refused = [each.user_attrs.get(REFUSED) for each in finished(study)]
    for place in outcome.places:
        print(place)
    if found_one:
        return status
    if refused and all(refused) and not left:
        raise UserError(refused[0])
    what = "repeat the command to compute what is missing" if left else "search other values"
    print(f"error: No trial of the search has a finite {metric}; {what}.", file=sys.stderr)
    return status or 1


def optuna_distribution(override: Override) -> optuna.distributions.BaseDistribution:
    """What Optuna draws a key from: an interval, or a list of values.

    Raises:
        UserError: for an interval that is refused, or no value.
    """
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not override.is_interval_sweep():
        values = values_of(override, Transformer.encode)
        if not values:
            raise UserError(f"'{override.input_line}' is a sweep over nothing.")
        return CategoricalDistribution(values)
    found = search_interval(override)
    if found.whole:
        return IntDistribution(int(found.low), int(found.high), log=found.logarithmic)
    return FloatDistribution(found.low, found.high, log=found.logarithmic)


def shown(value: Any) -> str:
    """A value with as many digits as a reader wants."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def hydra_lines(search: Search) -> list[str]:
    """The overrides of Hydra itself."""
    return [each.input_line or "" for each in parse(search.lines) if is_hydra(each)]


def _any_value(each: Any) -> Any:
    return each.choices[0] if hasattr(each, "choices") else each.low


def _print_best(search: Search, study: optuna.Study, metric: str) -> bool:
    """Prints the best trial and the command that repeats it; whether there is one, with a finite value."""
    done = [each for each in finished(study) if REFUSED not in each.user_attrs]
    if not any(math.isfinite(each.value) for each in done):
        return False
    best = study.best_trial
    chosen = [f"{key}={value}" for key, value in best.params.items()]
    print(f"Best of {len(done)} trials: {metric} = {best.value:.6g}")
    print(shlex.join(["python", "-m", "runner", *search.lines, *chosen]))
    return True
