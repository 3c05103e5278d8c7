"""Runs what was asked for: one job here, or all jobs of a sweep through Hydra's launcher."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra._internal.callbacks import Callbacks
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.types import HydraContext, RunMode

from runner import interrupt
from runner.compose import CONFIG, HYDRA_KEYS_KEPT, compose, loader, one_sentence_errors
from runner.errors import UserError
from runner.job import compute, job, stopping_here
from runner.outcome import Outcome, digest
from runner.preflight import preflight
from runner.progress import Progress
from runner.store import Store
from runner.sweep import Job, Request, jobs_of

BASIC = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"


def run_one(request: Request) -> int:
    """Computes the one job of `request` and shows what it measured; the exit status."""
    (only,) = jobs_of(request)
    preflight([only])
    kept = [line for line in request.hydra if line.startswith(HYDRA_KEYS_KEPT)]
    with stopping_here(), Progress():
        outcome = compute(only.config, [*kept, *only.overrides])
    _show(only, outcome)
    return 1 if outcome.failures else 0


def run_sweep(request: Request) -> int:
    """Launches all jobs of `request` that are not done; prints what failed; the exit status."""
    master = compose(request.hydra, with_hydra=True)
    if master.hydra.sweeper._target_ != BASIC:
        return _leave_to(request)
    jobs = jobs_of(request)
    preflight(jobs)
    outcome = Outcome()
    pending: list[Job] = []
    for each in jobs:
        store = Store(each.config.output_root)
        if all(store.run(run_id).summary() is not None for run_id in each.run_ids.values()):
            outcome.skipped += each.run_ids.values()
        else:
            pending.append(each)
    if pending:
        for returned in _launch(request, pending):
            outcome.add(returned)
    if outcome.failures:
        print(digest(outcome.failures), file=sys.stderr)
    print(outcome.sentence())
    if outcome.interrupted:
        raise interrupt.Interrupted("a signal")
    return 1 if outcome.failures else 0


def _launch(request: Request, jobs: Sequence[Job]) -> list[Outcome]:
    """Hands all jobs to Hydra's launcher in one call."""
    root = str(jobs[0].config.output_root)
    hydra = GlobalHydra.instance().hydra
    assert hydra is not None
    overrides = [*request.hydra, f"++output_root='{root}'"]
    with one_sentence_errors():
        config = hydra.compose_config(CONFIG, overrides, RunMode.MULTIRUN, from_shell=False)
        context = HydraContext(config_loader=loader(), callbacks=Callbacks(config))
        launcher = Plugins.instance().instantiate_launcher(
            hydra_context=context, task_function=job, config=config
        )
    returned: Sequence[JobReturn] = []
    with stopping_here(), Progress(len(jobs)):
        returned = launcher.launch([list(each.overrides) for each in jobs], initial_job_idx=0)
    return [_outcome(each) for each in returned]


def _outcome(returned: JobReturn) -> Outcome:
    value: Any = returned._return_value
    if isinstance(value, Outcome):
        return value
    raise UserError(f"A job could not be started: {value}")


def _leave_to(request: Request) -> int:
    raise UserError("other sweepers")


def _show(only: Job, outcome: Outcome) -> None:
    """The metrics of each run, and where they are."""
    if outcome.failures:
        print(digest(outcome.failures), file=sys.stderr)
    store = Store(only.config.output_root)
    for seed, run_id in only.run_ids.items():
        folder = store.run(run_id)
        summary = folder.summary()
        if summary is None:
            print(f"seed {seed}: {folder.status()}  {folder.path}")
            continue
        before = ", done before" if run_id in outcome.skipped else ""
        print(f"seed {seed}: {summary['steps']} steps in {summary['seconds']:.2f} s{before}  {folder.path}")
        values = (f"{name}={value:.5g}" for name, value in summary["metrics"].items() if value is not None)
        print(f"  {'  '.join(values)}")
