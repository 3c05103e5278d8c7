"""``hydra/sweeper=optuna``: searches hyperparameters, a trial being a job like any other.

Hydra's plugin (hydra-optuna-sweeper 1.3.0) asks for an Optuna below 3, whose SQLite storage does not start
beside SQLAlchemy 2.1; it knows neither the identity of a run nor its checkpoint. So Optuna is asked here.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.types import Override, Transformer

from runner.config.compose import searched
from runner.config.overrides import is_hydra, parse
from runner.execution import signals
from runner.execution.errors import UserError
from runner.execution.progress import Progress
from runner.store.digest import digest
from runner.sweep.ending import ended
from runner.sweep.job_runner import compute
from runner.sweep.jobs import Job, jobs_of, requested
from runner.sweep.live_logging import log_done
from runner.sweep.outcome import Outcome
from runner.sweep.preflight import preflight
from runner.sweep.search.objective import objective_of, objective_value
from runner.sweep.search.search_space import Search

if TYPE_CHECKING:
    import optuna


def run_search(search: Search) -> int:
    """Computes the trials that are not done, and prints the best; the exit status.

    Raises:
        UserError: where a trial is refused before it starts.
        Interrupted: if the process was told to stop; the same command goes on with the same trials.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    distributions = {key: distribution(override) for key, override in search.space.items()}
    first = _job(search, {key: _any_value(each) for key, each in distributions.items()})
    metric, direction = objective_of(first.config)
    study, search_path = _study(search, first, direction), searched(hydra_lines(search))
    outcome, jobs = Outcome(), []
    with signals.commanding(), Progress():
        for interrupted in study.get_trials(states=(optuna.trial.TrialState.RUNNING,)):
            study.tell(interrupted.number, state=optuna.trial.TrialState.FAIL)
            study.enqueue_trial(interrupted.params)
        while (number := _done(study)) < search.trials:
            # Each trial has a seed of its own, so that a search that goes on is one that never stopped.
            study.sampler = optuna.samplers.TPESampler(seed=search.seed * 1_000_003 + number)
            trial = study.ask(distributions)
            job = _job(search, trial.params)
            found = compute(job, search_path, preflight([job]))
            value = objective_value(job.config, found, job.run_ids)
            jobs.append(job)
            outcome.add(found)
            study.tell(trial, value)
            params = ", ".join(f"{key}={shown(each)}" for key, each in trial.params.items())
            print(f"trial {number + 1} of {search.trials}: {metric} = {value:.6g} with {params}")
    if jobs:
        log_done(jobs, outcome)
    best = study.best_trial
    chosen = [f"{key}={value}" for key, value in best.params.items()]
    print(f"Best of {_done(study)} trials: {metric} = {best.value:.6g}")
    print(shlex.join(["python", "-m", "runner", *search.lines, *chosen]))
    status = ended(jobs, outcome)
    for place in outcome.places:
        print(place)
    return status


def distribution(override: Override) -> optuna.distributions.BaseDistribution:
    """What Optuna draws a key from: an interval, or a list of values."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not override.is_interval_sweep():
        return CategoricalDistribution(list(override.sweep_iterator(transformer=Transformer.encode)))
    swept: Any = override.value()
    logarithm = "log" in swept.tags
    if not swept.start < swept.end or (logarithm and swept.start <= 0):
        above = ", both above 0" if logarithm else ""
        raise UserError(f"'{override.input_line}' must go from a smaller to a larger number{above}.")
    if "int" in swept.tags:
        return IntDistribution(int(swept.start), int(swept.end), log=logarithm)
    return FloatDistribution(float(swept.start), float(swept.end), log=logarithm)


def shown(value: Any) -> str:
    """A value with as many digits as a reader wants."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def hydra_lines(search: Search) -> list[str]:
    """The overrides of Hydra itself."""
    return [each.input_line or "" for each in parse(search.lines) if is_hydra(each)]


def _any_value(each: Any) -> Any:
    return each.choices[0] if hasattr(each, "choices") else each.low


def _job(search: Search, values: dict[str, Any]) -> Job:
    lines = [*search.lines, *(f"{key}={value}" for key, value in values.items())]
    (job,) = jobs_of(requested(lines, multirun=False))
    return job


def _study(search: Search, job: Job, direction: str) -> optuna.Study:
    """The study of this search, in a journal under the output root."""
    import optuna
    from optuna.storages.journal import JournalFileBackend

    content = {"lines": sorted(search.lines), "seed": search.seed}
    content |= {"space": sorted(str(each.input_line) for each in search.space.values())}
    folder = Path(job.config.output_root) / "optuna"
    folder.mkdir(parents=True, exist_ok=True)
    name = digest(content)
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(folder / f"{name}.log")))
    return optuna.create_study(storage=storage, study_name=name, direction=direction, load_if_exists=True)


def _done(study: optuna.Study) -> int:
    import optuna

    return len(study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,)))
