"""Runs what was asked for: one job here, or all jobs of a sweep through Hydra's launcher.

What needs torch is imported where it is used: it takes seconds, and runs that are done need none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from runner.config.compose import searched
from runner.config.values import fails_fast, retries_of
from runner.execution import signals
from runner.execution.manifest import source
from runner.execution.memory.garbage import imported
from runner.execution.progress import Progress
from runner.store.final_values import final_values
from runner.sweep.configured_logger import logger_of
from runner.sweep.ending import ended, swept
from runner.sweep.jobs import Job, Request, folders_of
from runner.sweep.launchers.asked_for import check_launcher, on_other_nodes
from runner.sweep.launchers.launcher import launch_jobs
from runner.sweep.launchers.requeue import launched
from runner.sweep.live_logging import log_done
from runner.sweep.outcome import Outcome


def run_one(request: Request) -> int:
    """Computes the one job of `request` and shows what it measured; the exit status."""
    (only,) = request.jobs
    outcome = Outcome()
    if not _left([only], outcome):
        outcome.places = logger_of(only.config).places()
    else:
        source()  # what is imported now: the files may be edited while the runs are computed
        from runner.sweep.job_runner import compute
        from runner.sweep.preflight import preflight

        imported()
        with signals.commanding(), Progress():
            outcome = compute(only, searched(request.hydra), preflight([only]))
    log_done([only], outcome, request.hydra)
    _show(only, outcome)
    return _ended([only], outcome)


def run_sweep(
    request: Request, show: Callable[[Sequence[Job]], None], check: Callable[[], None] = lambda: None
) -> int:
    """Launches all jobs of `request` that are not done; prints what failed; the exit status.

    Args:
        show: prints the numbers of these jobs.
        check: called before the jobs begin, to refuse what is wrong beside them; not where all are done.
    """
    jobs = request.jobs
    fail_fast = fails_fast(jobs[0].config)
    check_launcher(request)
    outcome = Outcome()
    pending = _left(jobs, outcome)
    if pending:
        source()  # as in `run_one`
        from runner.problem.problems import Problems
        from runner.sweep.preflight import preflight, served

        check()
        imported()
        problems = Problems()
        with Progress():
            elsewhere = on_other_nodes(request, pending)
            if request.pattern:
                jobs = served(jobs, problems, elsewhere=elsewhere)
                pending = [each for each in pending if each in jobs]
            preflight(jobs, problems, elsewhere=elsewhere)
    if pending:
        retries = retries_of(jobs[0].config)
        launch = partial(launch_jobs, request, problems=problems)
        outcome.add(launched(launch, pending, searched(request.hydra), retries))
        if fail_fast and outcome.failures:
            met = {*outcome.done, *outcome.skipped, *outcome.locked}.union(
                *(failure.runs.values() for failure in outcome.failures)
            )
            ids = (run_id for each in pending for run_id in each.run_ids.values())
            outcome.unbegun = [run_id for run_id in ids if run_id not in met]
    signals.obey()
    log_done(jobs, outcome, request.hydra)
    show(jobs)
    return swept(outcome, _ended(jobs, outcome))


def _left(jobs: Sequence[Job], outcome: Outcome) -> list[Job]:
    """The jobs of which a run is not done; those of the others are skipped, which `outcome` hears.

    A job of which a run cannot be read now is left: it becomes a failure of its own, and the others go on.
    """
    left: list[Job] = []
    for each in jobs:
        folders = folders_of(each)
        if all(folder.is_done() for folder in folders):
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


def _show(only: Job, outcome: Outcome) -> None:
    """The metrics of each run, and where they are."""
    for seed, folder in zip(only.run_ids, folders_of(only), strict=True):
        status, summary = folder.standing()
        if summary is None:
            print(f"seed {seed}: {status}  {folder.path}")
            continue
        before = ", done before" if folder.run_id in outcome.skipped else ""
        steps = f"{summary['steps']} steps in " if summary["steps"] else ""  # a task need not have any
        cost = f"{steps}{summary['seconds']:.2f} s{_tuning_cost(summary)}"
        print(f"seed {seed}: {cost}{before}  {folder.path}")
        values = final_values(folder, summary)
        print(f"  {'  '.join(f'{name}={value:.5g}' for name, value in values.items())}")


def _tuning_cost(summary: Mapping[str, Any]) -> str:
    """``, tuning 159.6 s (10,900 evaluations a chain)``; empty where nothing was tuned."""
    tuning = summary.get("tuning")
    if not tuning:
        return ""
    return f", tuning {tuning['seconds']:.1f} s ({tuning['evaluations']:,} evaluations a chain)"
