"""The trials of a search: their jobs, where they are kept, and which of them still stand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.types import Override, RangeSweep

from runner.config.choices import values_of
from runner.config.compose import OF_A_COMMAND
from runner.execution import signals
from runner.execution.errors import RunError, UserError
from runner.problem.problems import Problems
from runner.store.short_hash import short_hash
from runner.sweep.jobs import Job, jobs_of, requested
from runner.sweep.preflight import preflight
from runner.sweep.search.journal import asked_anew, opened
from runner.sweep.search.objective import Objective, check_measured, objective_of, objective_value
from runner.sweep.search.search_space import Search
from runner.tasks.task import task_of

if TYPE_CHECKING:
    import optuna

REFUSED = "refused"
"""The attribute of a trial that cannot be: why not."""


def trial_jobs(search: Search, params: dict[str, Any]) -> list[Job]:
    """The jobs of the trial with these parameters: several where each seed is a job of its own.

    Raises:
        UserError: where it is refused without torch.
    """
    lines = [*search.lines, *(f"{key}={value}" for key, value in params.items())]
    return jobs_of(requested(lines, multirun=False))


def trial_value(objective: Objective, jobs: Sequence[Job]) -> float | None:
    """The objective of a trial with these jobs; None unless all their runs are measured."""
    run_ids = [run_id for job in jobs for run_id in job.run_ids.values()]
    return objective_value(objective, jobs[0].config.output_root, run_ids)


def objective_measured(jobs: Sequence[Job]) -> Objective:
    """What a search improves, one of whose trials has these jobs: they are tried, and nothing is begun.

    Raises:
        UserError: where it is refused, or will not have the objective.
    """
    first, problems = jobs[0].config, preflight(jobs)
    objective = objective_of(first, task_of(first).measured(first, problems))
    for job in jobs:
        check_measured(job.config, problems, objective.metric)
    return objective


def tried(jobs: Sequence[Job], metric: str) -> Problems:
    """The problems of a trial with these jobs, which can begin and will have the value `metric`.

    Raises:
        UserError: where one of them is refused.
    """
    problems = preflight(jobs)
    for job in jobs:
        check_measured(job.config, problems, metric)
    return problems


def journal_path(search: Search, objective: Objective, root: str) -> Path:
    """Where the trials of `search` for `objective` are kept, under the output root."""
    how = tuple(f"sweep.{key}=" for key in OF_A_COMMAND)
    lines = [line for line in search.lines if not line.lstrip("+").startswith(how)]
    content: dict[str, Any] = {"lines": sorted(lines), "seed": search.seed, "objective": list(objective)}
    content["space"] = sorted(map(_searched, search.space.values()))
    return Path(root) / "optuna" / f"{short_hash(content)}.log"


def _searched(override: Override) -> str:
    """What a key is searched in; of a range also its values, since those in older journals differ."""
    written = str(override.input_line)
    return f"{written} {values_of(override)}" if isinstance(override.value(), RangeSweep) else written


def reopened(search: Search, objective: Objective, path: Path) -> optuna.Study:
    """The study in the journal at `path`; trials of which it says what their runs do not are asked again.

    The ids of runs change with their code, their configuration and their files, so that no value of other
    ones is compared with those of now.
    """
    study = opened(path, objective.direction)
    wrong = [trial for trial in finished(study) if not _stands(search, objective, trial)]
    return asked_anew(path, study, wrong) if wrong else study


def finished(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """The trials that have a value, and those that are refused."""
    from optuna.trial import TrialState

    return list(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)))


def tell(study: optuna.Study, trial: optuna.trial.Trial, value: float) -> None:
    """Writes the value of a trial into the journal; a signal waits."""
    with signals.deferred():
        study.tell(trial, value)


def refuse(study: optuna.Study, trial: optuna.trial.Trial, error: UserError) -> None:
    """Writes into the journal that a trial cannot be: the search goes on elsewhere.

    Raises:
        RunError: where it is not the trial that is refused, as by a full disk.
    """
    import optuna

    if isinstance(error, RunError):
        raise error
    with signals.deferred():
        trial.set_user_attr(REFUSED, str(error))
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)


def _stands(search: Search, objective: Objective, trial: optuna.trial.FrozenTrial) -> bool:
    try:
        jobs = trial_jobs(search, trial.params)
        if REFUSED in trial.user_attrs:
            tried(jobs, objective.metric)
            return False
        value = trial_value(objective, jobs)
    except RunError:
        raise
    except UserError:
        return REFUSED in trial.user_attrs
    return value is not None and value == float(trial.value)
