"""Computes jobs here, or hands them to the launcher of Hydra that was asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from hydra._internal.callbacks import Callbacks
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.types import HydraContext, RunMode
from omegaconf import OmegaConf

from runner.config.compose import CONFIG, loader, one_sentence_errors, searched
from runner.config.output_root import output_root_word
from runner.config.values import fails_fast
from runner.execution import signals
from runner.execution.errors import UserError, one_sentence
from runner.execution.manifest import told_to_workers
from runner.execution.progress import Progress
from runner.execution.storage_errors import storage_error
from runner.store.under_way import works_of_others
from runner.sweep.jobs import Job, Request, folders_of
from runner.sweep.launchers.gpus import one_each
from runner.sweep.launchers.orphans import adopted
from runner.sweep.launchers.ray_tasks import RAY, ray_at_work
from runner.sweep.launchers.requeue import WorkerLostError, is_worker_lost
from runner.sweep.launchers.returned import outcome_of_job
from runner.sweep.launchers.slurm_jobs import jobs_of_submitit
from runner.sweep.outcome import Outcome

if TYPE_CHECKING:
    from runner.problem.problems import Problems
    from runner.store.run_folder import RunFolder

SUBMITIT = ("SlurmLauncher", "LocalLauncher")
"""Launchers of Hydra's plugin for submitit."""


def launch_jobs(request: Request, jobs: Sequence[Job], *, problems: Problems) -> list[Outcome]:
    """Computes all jobs here, or hands them to the launcher that was asked for in one call.

    Raises:
        WorkerLostError: if a worker of the launcher has ended, whose jobs may be launched again.
        StorageError: if the disk of a worker refuses.
        UserError: if the launcher cannot hand out jobs.
    """
    from runner.sweep.job_runner import job as task

    hydra = GlobalHydra.instance().hydra
    assert hydra is not None
    root = f"++{output_root_word(jobs[0].config.output_root)}"
    with one_sentence_errors():
        config = hydra.compose_config(CONFIG, [*request.hydra, root], RunMode.MULTIRUN, from_shell=False)
        context = HydraContext(config_loader=loader(), callbacks=Callbacks(config))
        plugins = Plugins.instance()
        launcher = plugins.instantiate_launcher(hydra_context=context, task_function=task, config=config)
    one_each(launcher, jobs[0].config)
    runs = [folder for each in jobs for folder in folders_of(each)]
    before = {run.run_id for run in runs if run.is_done()}
    summaries = [run.path / "summary.json" for run in runs]
    # By name: Hydra loads its plugins' modules once more, and their classes are then others.
    kind = type(launcher).__name__
    # Joblib's workers are our children and save their runs; a cluster's jobs go on without us.
    ours = kind == "JoblibLauncher"
    progress = Progress(summaries, elsewhere=partial(works_of_others, runs))
    with signals.commanding(), progress, adopted() if ours else nullcontext():
        try:
            if kind == "BasicLauncher":
                return list(_computed_here(jobs, searched(request.hydra), problems))
            turns = interleaved(jobs)
            with told_to_workers(), _wait_of(launcher, runs):
                returned = launcher.launch([list(each.overrides) for each in turns], initial_job_idx=0)
        except Exception as error:
            signals.obey()
            if is_worker_lost(error):
                # What follows the first sentence is advice on the logs of the workers.
                said, *_ = one_sentence(error).split(". ")
                raise WorkerLostError(f"{said.rstrip('.')}.") from error
            # Ray wraps what a worker raised.
            if (refused := storage_error(getattr(error, "cause", None) or error)) is not None:
                raise refused from error
            # A job's own failure is an outcome, so this is the launcher's: no Slurm here, ...
            raise UserError(f"The launcher {kind} failed: {one_sentence(error)}") from error
    own = searched(request.hydra)
    return [
        outcome_of_job(each, job, own, before, begun_again=not ours)
        for each, job in zip(returned, turns, strict=True)
    ]


def _computed_here(jobs: Sequence[Job], hydra: Sequence[str], problems: Problems) -> Iterator[Outcome]:
    """The outcome of each job, computed here; with ``sweep.fail_fast`` none after the first failure."""
    from runner.sweep.job_runner import compute

    for each in jobs:
        outcome = compute(each, hydra, problems)
        yield outcome
        if outcome.failures and fails_fast(each.config):
            return


def _wait_of(launcher: Any, runs: Sequence[RunFolder]) -> AbstractContextManager[None]:
    """What the wait of `launcher` for the jobs of these runs needs."""
    kind = type(launcher).__name__
    if kind == RAY:
        return ray_at_work(launcher.ray_cfg, runs)
    return jobs_of_submitit() if kind in SUBMITIT else nullcontext()


def interleaved(jobs: Sequence[Job]) -> list[Job]:
    """The jobs in turns of one for each target and sampler.

    Jobs that share both also share what is computed once, such as the images of a model, and side by side
    one would wait for the other.
    """
    alike: dict[str, list[Job]] = {}
    for job in jobs:
        shared = (OmegaConf.to_yaml(job.config[key], resolve=True) for key in ("target", "sampler"))
        alike.setdefault("".join(shared), []).append(job)
    return [job for turn in itertools.zip_longest(*alike.values()) for job in turn if job is not None]
