"""The trials of a search: their jobs, where they are kept, and which of them still stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.config.compose import OF_A_COMMAND
from runner.execution import signals
from runner.execution.errors import UserError
from runner.store.short_hash import short_hash
from runner.sweep.jobs import Job, jobs_of, requested
from runner.sweep.preflight import preflight
from runner.sweep.search.journal import asked_anew, opened
from runner.sweep.search.objective import Objective, check_measured, objective_of, objective_value
from runner.sweep.search.search_space import Search
from runner.tasks.task import task_of

if TYPE_CHECKING:
    import optuna


def trial_job(search: Search, params: dict[str, Any]) -> Job:
    """The job of the trial with these parameters.

    Raises:
        UserError: where it is refused without torch.
    """
    lines = [*search.lines, *(f"{key}={value}" for key, value in params.items())]
    (job,) = jobs_of(requested(lines, multirun=False))
    return job


def objective_measured(first: Job) -> Objective:
    """What a search improves, one of whose trials is `first`: it is tried, and nothing is begun.

    Raises:
        UserError: where it is refused, or will not have the objective.
    """
    problems = preflight([first])
    objective = objective_of(first.config, task_of(first.config).measured(first.config, problems))
    check_measured(first.config, problems, objective.metric)
    return objective


def journal_path(search: Search, objective: Objective, root: str) -> Path:
    """Where the trials of `search` for `objective` are kept, under the output root."""
    how = tuple(f"sweep.{key}=" for key in OF_A_COMMAND)
    lines = [line for line in search.lines if not line.lstrip("+").startswith(how)]
    content: dict[str, Any] = {"lines": sorted(lines), "seed": search.seed, "objective": list(objective)}
    content["space"] = sorted(str(each.input_line) for each in search.space.values())
    return Path(root) / "optuna" / f"{short_hash(content)}.log"


def reopened(search: Search, objective: Objective, path: Path) -> optuna.Study:
    """The study in the journal at `path`; trials of which it says what their runs do not are asked again.

    The ids of runs change with their code, their configuration and their files, so that no value of other
    ones is compared with those of now.
    """
    study = opened(path, objective.direction)
    wrong = [trial for trial in finished(study) if not _stands(search, objective, trial)]
    return asked_anew(path, study, wrong) if wrong else study


def finished(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """The trials that have a value."""
    import optuna

    return list(study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,)))


def tell(study: optuna.Study, trial: optuna.trial.Trial, value: float) -> None:
    """Writes the value of a trial into the journal; a signal waits."""
    with signals.deferred():
        study.tell(trial, value)


def _stands(search: Search, objective: Objective, trial: optuna.trial.FrozenTrial) -> bool:
    try:
        job = trial_job(search, trial.params)
    except UserError:
        return False
    value = objective_value(objective, job.config.output_root, job.run_ids.values())
    return value is not None and value == float(trial.value)
