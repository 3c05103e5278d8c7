"""Copies the results of an experiment, or of any runs, from the disk to Weights & Biases.

``python -m runner.wandb_sync pt_table1 [mode=offline] [scale=quick output_root=DIR ...]
                                           [--workspace] [--report]``
``python -m runner.wandb_sync runs [mode=offline] [target=mog sampler=dmala,acs ...] [--workspace]``

May be repeated: runs that W&B has with the same results are left out. ``--again`` copies them, too: a run
keeps its id, so W&B has each run once, and an offline copy replaces the one before.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.config.output_root import output_root_word
from runner.execution.command_line import ExperimentParser, reporting
from runner.execution.errors import UserError, counted, one_sentence
from runner.library.selected_runs import RUNS
from runner.store.logged_run import Given, log_runs
from runner.store.logger_protocol import Logger
from runner.sweep.sync_command import SETTINGS

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from runner.loggers.wandb import WandbLogger


@dataclass(frozen=True)
class Synced:
    """What was copied: how many runs, whether there was a table, in which mode, where; what else to say."""

    given: Given
    table: bool
    mode: str
    places: tuple[str, ...]
    said: tuple[str, ...] = ()

    def sentence(self) -> str:
        """``Copied 18 runs and the table (online), 2 were there already; 0 runs are not done.``"""
        were = "was" if self.given.known == 1 else "were"
        known = f", {self.given.known} {were} there already" if self.given.known else ""
        table = " and the table" if self.table else ""
        copied = f"Copied {counted(self.given.runs, 'run')}{table} ({self.mode}){known}"
        if self.mode == "disabled":
            copied = "Nothing was copied, since W&B is disabled (mode=disabled)"
        are = "is" if self.given.unfinished == 1 else "are"
        return f"{copied}; {counted(self.given.unfinished, 'run')} {are} not done."


@dataclass(frozen=True)
class Wanted:
    """What is wanted besides the runs that W&B does not have: those that it has, a workspace, a report."""

    again: bool = False
    workspace: bool = False
    report: bool = False


def sync(experiment: str, overrides: Sequence[str], wanted: Wanted = Wanted()) -> Synced:
    """Copies every finished run of `experiment`, and its table where one has been rendered.

    Raises:
        UserError: for an unknown experiment, an override that does not fit, where wandb is missing, or where
            W&B stops to take runs.
    """
    from runner.config.compose import searched
    from runner.dashboards.dashboard import show_report, show_workspace
    from runner.dashboards.papers import paper_of
    from runner.dashboards.shown import shown_experiment
    from runner.store.folder_digests import damaged_files, unfinished_table
    from runner.store.left_out import left_out_runs
    from runner.store.run_store import Store
    from runner.sweep.jobs import experiment_jobs

    jobs = experiment_jobs(experiment, ["logger=wandb", *_with_group(overrides)])
    config = jobs[0].config
    logger = _logger(config)
    store = Store(config.output_root)
    ids = dict.fromkeys(run_id for job in jobs for run_id in job.run_ids.values())
    folders = [store.run(run_id) for run_id in ids]
    tables = Path(config.output_root) / "tables" / experiment / str(config.scale.name)
    wrong, unfinished = damaged_files(tables), unfinished_table(tables)
    table = tables.is_dir() and not wrong and not unfinished
    left_out = [left_out_runs(folders)]
    with _explained():
        given = log_runs(logger, folders, wanted.again, searched=searched(overrides))
        if wrong:
            left_out.append(
                f"The table {tables} is damaged ({', '.join(wrong)}) and left out: render it again."
            )
        elif table:
            logger.table(experiment, str(config.scale.name), tables)
        places = []
        if wanted.workspace:
            places.append(show_workspace(logger, shown_experiment(experiment, jobs, overrides)))
        if wanted.report:
            places.append(show_report(logger, paper_of(experiment), Path(config.output_root)))
        return _synced(logger, given, table, [*left_out, unfinished, *places])


def sync_runs(lines: Sequence[str], wanted: Wanted = Wanted()) -> Synced:
    """Copies the finished runs that fit the conditions among `lines`; the others are keys of the logger.

    Raises:
        UserError: for a condition that cannot be read, where no run fits, or where W&B stops to take runs.
    """
    from runner.config.compose import compose, searched
    from runner.dashboards.dashboard import show_workspace
    from runner.dashboards.shown import shown_runs
    from runner.library.selected_runs import selected_runs
    from runner.store.left_out import left_out_runs

    given = _with_group(lines)
    keys = [line for line in given if line.startswith(("logger.", "hydra."))]
    places = searched(keys)
    selection = selected_runs([*places, *(line for line in given if line not in keys)])
    root = f"++{output_root_word(selection.root)}"
    logger = _logger(compose(["logger=wandb", root, *keys]))
    left_out = left_out_runs(selection.left_out())
    with _explained():
        configs = {run.folder.run_id: run.config for run in selection.runs}
        folders = [run.folder for run in selection.runs]
        copied = log_runs(logger, folders, wanted.again, configs, places)
        said = [left_out]
        if wanted.workspace:
            done = [run for run in selection.runs if run.status == "done"]
            said.append(show_workspace(logger, shown_runs(done, selection.root)))
        return _synced(logger, copied, False, said)


@contextmanager
def _explained() -> Iterator[None]:
    """Turns what W&B's client raises into one sentence; no run on disk is touched by it."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"W&B did not take everything ({type(error).__name__}: {one_sentence(error).rstrip('.')}); "
            "the results on disk are complete, and the same command goes on where it stopped."
        ) from error


def _with_group(lines: Sequence[str]) -> list[str]:
    """`lines` with the keys of the logger under their full names."""
    return [f"logger.{line}" if line.split("=", 1)[0] in SETTINGS else line for line in lines]


def _logger(config: DictConfig) -> WandbLogger:
    from runner.config.construct import construct
    from runner.config.key_group import node

    logger: WandbLogger = construct(node(config, "logger"), "logger", (Logger,))
    return logger


def _synced(logger: WandbLogger, given: Given, table: bool, said: Sequence[str]) -> Synced:
    return Synced(given, table, logger.mode, tuple(logger.places()), tuple(filter(None, said)))


@reporting
def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit status 2 for a mistake in the command."""
    parser = ExperimentParser("runner.wandb_sync", __doc__)
    parser.add_argument("--again", action="store_true", help="also copy runs that W&B already has")
    parser.add_argument("--workspace", action="store_true", help="make or update the workspace")
    parser.add_argument("--report", action="store_true", help="make or update the report of the paper")
    experiment, overrides, given = parser.experiment(arguments)
    if experiment == RUNS and given.report:
        raise UserError("A report is of a paper: --report goes with an experiment, such as pt_table1.")
    wanted = Wanted(given.again, given.workspace, given.report)
    synced = sync_runs(overrides, wanted) if experiment == RUNS else sync(experiment, overrides, wanted)
    print(synced.sentence())
    for said in (*synced.places, *synced.said):
        print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
