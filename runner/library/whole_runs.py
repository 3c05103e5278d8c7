"""Whole runs from Python: what ``python -m runner -m`` computes, as a frame."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pandas as pd
from hydra.core.global_hydra import GlobalHydra

from runner.config.sources.edited_files import forget_files
from runner.execution.command_line import with_config_dir
from runner.execution.errors import RunError, UserError
from runner.execution.signals import listening
from runner.report.selection.stored_runs import done_runs, runs_frame
from runner.sweep.jobs import Job, folders_of, requested
from runner.sweep.launch import run_sweep
from targets.checks import described

OURS = "pkg://conf"
"""Where our configurations are, as Hydra calls it."""


def run(*overrides: str, config_dir: str | Path | None = None) -> pd.DataFrame:
    """Computes the runs that `overrides` describe, as ``python -m runner -m`` does, and returns them.

        runner.run("target=mog", "sampler=dmala,acs", "seed=range(0,5)", "output_root=outputs")

    Runs that are done are not computed again; interrupted ones continue when the call is repeated. Progress
    and failures are printed. Each call reads the files of configurations anew, but imports no code again.

    Args:
        config_dir: a folder with configurations of your own, as ``--config-dir``.

    Returns:
        One row for each run that is done, as `runner.load_runs` describes it.

    Raises:
        TypeError: if an override is no text.
        UserError: for a name, key or value that is refused, before anything is computed.
        RunError: if a run failed; those that are done are on disk.
        Interrupted: after Ctrl-C; the state of the runs is on disk.
    """
    for given in overrides:
        if not isinstance(given, str):
            raise TypeError(f"overrides are texts, as run('target=mog'); {described(given)} was given")
    forget_files()
    lines = with_config_dir(overrides, config_dir)
    hydra = GlobalHydra.instance()
    if hydra.is_initialized() and OURS not in _places(hydra):
        raise UserError(
            "runner.run uses Hydra, which this process uses for a configuration of its own; "
            "call `python -m runner -m ...` in a process of its own, or runner.sample, which needs no Hydra."
        )
    with listening(), ExitStack() as work:
        request = requested(lines, multirun=True)
        jobs: list[Job] = []
        status = run_sweep(request, jobs.extend, check=lambda: _set_torch_up(work))
    folders = [folder for job in jobs for folder in folders_of(job)]
    done = done_runs(folders)
    if status:
        raise RunError(
            f"{len(done)} of {len(folders)} runs are done; why the others are not is printed above."
        )
    return runs_frame(done)


def _set_torch_up(work: ExitStack) -> None:
    """Switches off modes that change results until the `work` ends; then torch has as many threads as now."""
    # Torch is not needed for runs that are done.
    from metrics.library.thread_count import thread_count
    from metrics.library.torch_modes import ordinary_modes

    work.enter_context(thread_count())
    work.enter_context(ordinary_modes())


def _places(hydra: GlobalHydra) -> set[str]:
    """Where Hydra looks for configurations."""
    return {each.path for each in hydra.config_loader().get_search_path().get_path()}
