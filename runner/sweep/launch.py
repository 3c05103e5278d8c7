"""Runs what was asked for: one job here, or all jobs of a sweep through Hydra's launcher.

What needs torch is imported where it is used: it takes seconds, and runs that are done need none.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from hydra._internal.callbacks import Callbacks
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.types import HydraContext, RunMode

from runner.config.compose import CONFIG, initialise, loader, one_sentence_errors, searched
from runner.config.output_root import output_root_word
from runner.config.values import fails_fast, retries_of
from runner.execution import signals
from runner.execution.errors import UserError, one_sentence
from runner.execution.manifest import told_to_workers
from runner.execution.memory.garbage import imported
from runner.execution.progress import Progress
from runner.execution.storage_errors import storage_error
from runner.store.under_way import works_of_others
from runner.sweep.configured_logger import logger_of
from runner.sweep.ending import ended
from runner.sweep.gpus import one_each
from runner.sweep.jobs import Job, Request, folders_of, in_turns
from runner.sweep.live_logging import log_done
from runner.sweep.orphans import adopted
from runner.sweep.outcome import Outcome, failures_in_words
from runner.sweep.requeue import WorkerLostError, is_worker_lost, launched

if TYPE_CHECKING:
    from runner.problem.problems import Problems
    from runner.store.run_folder import RunFolder


def run_one(request: Request) -> int:
    """Computes the one job of `request` and shows what it measured; the exit status."""
    (only,) = request.jobs
    outcome = Outcome()
    if not _left([only], outcome):
        outcome.places = logger_of(only.config).places()
    else:
        from runner.sweep.job_runner import compute
        from runner.sweep.preflight import preflight

        imported()
        with signals.commanding(), Progress():
            outcome = compute(only, searched(request.hydra), preflight([only]))
    log_done([only], outcome)
    _show(only, outcome)
    return _ended([only], outcome)


def run_sweep(
    request: Request, show: Callable[[Sequence[Job]], None], check: Callable[[], None] = lambda: None
) -> int:
    """Launches all jobs of `request` that are not done; prints what failed; the exit status.

    Args:
        show: prints the numbers of these jobs.
        check: refuses what is wrong beside the jobs, before they begin; not called where all are done.
    """
    jobs = request.jobs
    fail_fast = _fails_fast(request, jobs[0])
    outcome = Outcome()
    pending = _left(jobs, outcome)
    if pending:
        from runner.problem.problems import Problems
        from runner.sweep.preflight import preflight, served

        check()
        imported()
        problems = Problems()
        with Progress():
            if request.pattern:
                jobs = served(jobs, problems)
                pending = [each for each in pending if each in jobs]
            preflight(jobs, problems)
    if pending:
        retries = retries_of(jobs[0].config)
        launch = partial(_launch, request, problems=problems)
        outcome.add(launched(launch, pending, searched(request.hydra), retries))
        if fail_fast and outcome.failures:
            met = {*outcome.done, *outcome.skipped, *outcome.locked}.union(
                *(failure.runs.values() for failure in outcome.failures)
            )
            ids = (run_id for each in pending for run_id in each.run_ids.values())
            outcome.unbegun = [run_id for run_id in ids if run_id not in met]
    signals.obey()
    if outcome.interrupted:
        raise signals.Interrupted("a signal to a worker")
    log_done(jobs, outcome)
    show(jobs)
    status = _ended(jobs, outcome)
    print(outcome.sentence())
    return status


def _fails_fast(request: Request, first: Job) -> bool:
    """``sweep.fail_fast``.

    Raises:
        UserError: unless it is true or false, or for a launcher that is handed all jobs at once.
    """
    given = fails_fast(first.config)
    others = [line for line in request.hydra if line.startswith("hydra/launcher=") and "basic" not in line]
    if given and others:
        raise UserError(
            "sweep.fail_fast=true needs hydra/launcher=basic, since other launchers are handed all jobs at "
            f"once; {others[0]} was given."
        )
    return given


def _in_turn(jobs: Sequence[Job], hydra: Sequence[str], problems: Problems) -> Iterator[Outcome]:
    """The outcome of each job, computed here; with ``sweep.fail_fast`` none after the first failure."""
    from runner.sweep.job_runner import compute

    for each in jobs:
        outcome = compute(each, hydra, problems)
        yield outcome
        if outcome.failures and fails_fast(each.config):
            return


def _left(jobs: Sequence[Job], outcome: Outcome) -> list[Job]:
    """The jobs of which a run is not done; those of the others are skipped, which `outcome` hears."""
    left: list[Job] = []
    for each in jobs:
        folders = folders_of(each)
        if all(folder.summary() is not None for folder in folders):
            outcome.skipped += each.run_ids.values()
            if spent := [folder for folder in folders if folder.checkpoint.exists()]:
                from runner.sweep.run_batch import remove_spent_checkpoints

                remove_spent_checkpoints(spent)
        else:
            left.append(each)
    return left


def _ended(jobs: Sequence[Job], outcome: Outcome) -> int:
    """Says what is not done, and where else the results can be seen; the exit status."""
    status = ended(jobs, outcome)
    for place in outcome.places:
        print(place)
    return status


def leave_to_hydra(lines: Sequence[str]) -> int:
    """A sweep by one of Hydra's other sweepers: it decides on the jobs, we compute each; the exit status."""
    from runner.sweep.job_runner import job

    imported()
    initialise()
    hydra = GlobalHydra.instance().hydra
    assert hydra is not None
    with signals.commanding(), one_sentence_errors():
        returned = hydra.multirun(CONFIG, job, list(lines), with_log_configuration=False)
    outcome = Outcome()
    for each in _jobs_in(returned):
        outcome.add(_outcome(each))
    if outcome.interrupted:
        raise signals.Interrupted("a signal to a worker")
    if outcome.failures:
        print(failures_in_words(outcome.failures), file=sys.stderr)
    if outcome != Outcome():
        print(outcome.sentence())
    return outcome.status


def _jobs_in(returned: Any) -> Iterator[JobReturn]:
    """The jobs that a sweeper returns, in lists of any depth; none where it returns something else."""
    if isinstance(returned, JobReturn):
        yield returned
    elif isinstance(returned, list):
        for each in returned:
            yield from _jobs_in(each)


def _launch(request: Request, jobs: Sequence[Job], *, problems: Problems) -> list[Outcome]:
    """Computes all jobs here, or hands them to the launcher that was asked for in one call."""
    from runner.sweep.job_runner import job

    hydra = GlobalHydra.instance().hydra
    assert hydra is not None
    root = f"++{output_root_word(jobs[0].config.output_root)}"
    with one_sentence_errors():
        config = hydra.compose_config(CONFIG, [*request.hydra, root], RunMode.MULTIRUN, from_shell=False)
        context = HydraContext(config_loader=loader(), callbacks=Callbacks(config))
        plugins = Plugins.instance()
        launcher = plugins.instantiate_launcher(hydra_context=context, task_function=job, config=config)
    one_each(launcher, jobs[0].config)
    runs = [folder for each in jobs for folder in folders_of(each)]
    summaries = [run.path / "summary.json" for run in runs]
    # By name: Hydra loads its plugins' modules once more, and their classes are then others.
    kind = type(launcher).__name__
    # Joblib's workers are our children and save their runs; a cluster's jobs go on without us.
    ours = kind == "JoblibLauncher"
    progress = Progress(summaries, elsewhere=partial(works_of_others, runs))
    with signals.commanding(), progress, adopted() if ours else nullcontext():
        try:
            if kind == "BasicLauncher":
                return list(_in_turn(jobs, searched(request.hydra), problems))
            with told_to_workers():
                returned = launcher.launch(
                    [list(each.overrides) for each in in_turns(jobs)], initial_job_idx=0
                )
        except Exception as error:
            signals.obey()
            if is_worker_lost(error):
                _stop_ray()
                # What follows the first sentence is advice on the logs of the workers.
                said, *_ = one_sentence(error).split(". ")
                raise WorkerLostError(f"{said.rstrip('.')}.") from error
            # Ray wraps what a worker raised.
            if (refused := storage_error(getattr(error, "cause", None) or error)) is not None:
                raise refused from error
            # A job's own failure is an outcome, so this is the launcher's: no Slurm here, ...
            raise UserError(f"The launcher {kind} failed: {one_sentence(error)}") from error
    return [_outcome(each) for each in returned]


def _stop_ray() -> None:
    """Ends the tasks that Ray still has for this process: they are launched anew."""
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        ray.shutdown()


def _outcome(returned: JobReturn) -> Outcome:
    value: Any = returned._return_value
    if isinstance(value, Outcome):
        return value
    raise UserError(f"A job could not be started: {value}")


def _show(only: Job, outcome: Outcome) -> None:
    """The metrics of each run, and where they are."""
    for seed, folder in zip(only.run_ids, folders_of(only), strict=True):
        summary = folder.summary()
        if summary is None:
            print(f"seed {seed}: {folder.status()}  {folder.path}")
            continue
        before = ", done before" if folder.run_id in outcome.skipped else ""
        cost = f"{summary['steps']} steps in {summary['seconds']:.2f} s{tuning_cost(summary)}"
        print(f"seed {seed}: {cost}{before}  {folder.path}")
        values = final_values(folder, summary["metrics"])
        print(f"  {'  '.join(f'{name}={value:.5g}' for name, value in values.items())}")


def final_values(folder: RunFolder, metrics: Mapping[str, float | None]) -> dict[str, float]:
    """What `metrics` of a summary say; one that is null there is NaN or infinite, as its last row says."""
    values = {name: math.nan if value is None else value for name, value in metrics.items()}
    if None in metrics.values() and (rows := folder.metrics()) is not None:
        values |= dict(zip(rows["metric"], rows["value"], strict=True))
    return {name: values[name] for name in metrics}


def tuning_cost(summary: Mapping[str, Any]) -> str:
    """``, tuning 159.6 s (10,900 evaluations)``; empty where nothing was tuned."""
    tuning = summary.get("tuning")
    return f", tuning {tuning['seconds']:.1f} s ({tuning['evaluations']:,} evaluations)" if tuning else ""
