"""The workspace and the report that a sweep ends with, where its runs go to a server of W&B."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner.execution.errors import one_sentence, warn
from runner.sweep.configured_logger import logger_of
from runner.sweep.jobs import Job

if TYPE_CHECKING:
    from runner.report.selection.stored_runs import StoredRun


def show_sweep(jobs: Sequence[Job], runs: Sequence[StoredRun], hydra: Sequence[str]) -> None:
    """Makes or updates the workspace of a sweep and the report of its paper, once a table of it is rendered.

    It says where they are; a failure is one sentence.

    Args:
        runs: those that were started, where the jobs are of no experiment; none where none is done.
        hydra: overrides of Hydra itself.
    """
    logger = logger_of(jobs[0].config).logger
    if logger is None:
        return
    from runner.dashboards.dashboard import EXTRA, has_client, show_report, show_workspace
    from runner.dashboards.papers import chapters, paper_of
    from runner.dashboards.shown import Shown, shown_experiment, shown_runs
    from runner.loggers.wandb import WandbLogger

    if not isinstance(logger, WandbLogger) or logger.mode != "online":
        return
    if not has_client():
        print(EXTRA)
        return

    config, what = jobs[0].config, "workspace"
    paper, root = paper_of(str(config.experiment)), Path(config.output_root)

    def shown() -> Shown | None:
        if jobs[0].row:
            return shown_experiment(str(config.experiment), jobs, hydra)
        return shown_runs(runs, root) if runs else None

    try:
        if (found := shown()) is not None:
            print(show_workspace(logger, found))
        if jobs[0].row and chapters(paper, root):
            what = "report"
            print(show_report(logger, paper, root))
    except Exception as error:
        warn(
            f"the {what} was not made ({type(error).__name__}: {one_sentence(error).rstrip('.')}); "
            f"'python -m runner.wandb_sync ... --{what}' makes it later."
        )
