"""Copies the results of an experiment, or of any runs, from the disk to Weights & Biases.

``python -m runner.wandb_sync pt_table1 [mode=offline] [scale=quick output_root=DIR ...]``
``python -m runner.wandb_sync runs [mode=offline] [target=mog sampler=dmala,acs ...]``

May be repeated: a run keeps its id, so W&B gets each run once, and an offline copy replaces the one before.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.config.experiment_command import ExperimentParser
from runner.execution.command_line import reported
from runner.report.selection.selected_runs import RUNS
from runner.store.logged_run import log_run
from runner.store.logger_protocol import Logger

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from runner.loggers.wandb import WandbLogger

SETTINGS = ("mode", "project", "entity", "group", "tags", "base_url")
"""Keys of the logger that may be given without ``logger.``."""


@dataclass(frozen=True)
class Synced:
    """How many runs were copied, how many are not done, whether there was a table, where, what is damaged."""

    runs: int
    unfinished: int
    table: bool
    mode: str
    places: tuple[str, ...]
    damaged: tuple[str, ...] = ()


def sync(experiment: str, overrides: Sequence[str]) -> Synced:
    """Copies every finished run of `experiment`, and its table where one has been rendered.

    Raises:
        UserError: for an unknown experiment, an override that does not fit, or where wandb is missing.
    """
    from runner.store.damaged_runs import damaged_runs
    from runner.store.folder_digests import damaged_files
    from runner.store.run_store import Store
    from runner.sweep.jobs import experiment_jobs

    jobs = experiment_jobs(experiment, ["logger=wandb", *_with_group(overrides)])
    config = jobs[0].config
    logger = _logger(config)
    store = Store(config.output_root)
    ids = dict.fromkeys(run_id for job in jobs for run_id in job.run_ids.values())
    folders = [store.run(run_id) for run_id in ids]
    done = [folder for folder in folders if log_run(logger, folder)]

    tables = Path(config.output_root) / "tables" / experiment / str(config.scale.name)
    wrong = damaged_files(tables)
    damaged = [damaged_runs(folders)]
    if wrong:
        damaged.append(f"The table {tables} is damaged ({', '.join(wrong)}) and left out: render it again.")
    elif tables.is_dir():
        logger.table(experiment, str(config.scale.name), tables)
    copied = tables.is_dir() and not wrong
    return _synced(logger, len(done), len(folders) - len(done), copied, damaged)


def sync_runs(lines: Sequence[str]) -> Synced:
    """Copies the finished runs that fit the conditions among `lines`; the others are keys of the logger.

    Raises:
        UserError: for a condition that cannot be read, or where no run fits.
    """
    from runner.config.compose import compose
    from runner.report.selection.selected_runs import selected_runs
    from runner.store.damaged_runs import damaged_runs

    given = _with_group(lines)
    keys = [line for line in given if line.startswith(("logger.", "hydra."))]
    selection = selected_runs([line for line in given if line not in keys])
    root = f"++output_root='{selection.root}'"
    logger = _logger(compose(["logger=wandb", root, *keys]))
    done = [run for run in selection.runs if log_run(logger, run.folder)]
    damaged = damaged_runs(run.folder for run in selection.runs if run.status == "damaged")
    return _synced(logger, len(done), len(selection.runs) - len(done), False, [damaged])


def _with_group(lines: Sequence[str]) -> list[str]:
    """`lines` with the keys of the logger under their full names."""
    return [f"logger.{line}" if line.split("=", 1)[0] in SETTINGS else line for line in lines]


def _logger(config: DictConfig) -> WandbLogger:
    from runner.config.construct import construct
    from runner.config.key_group import node

    logger: WandbLogger = construct(node(config, "logger"), "logger", (Logger,))
    return logger


def _synced(logger: WandbLogger, runs: int, unfinished: int, table: bool, damaged: Sequence[str]) -> Synced:
    places, wrong = tuple(logger.places()), tuple(filter(None, damaged))
    return Synced(runs, unfinished, table, logger.mode, places, wrong)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit status 2 for a mistake in the command."""
    return reported(lambda: _main(arguments))


def _main(arguments: Sequence[str] | None) -> int:
    experiment, overrides, _ = ExperimentParser("runner.wandb_sync", __doc__).experiment(arguments)
    synced = sync_runs(overrides) if experiment == RUNS else sync(experiment, overrides)
    table = " and the table" if synced.table else ""
    print(f"Copied {synced.runs} runs{table} ({synced.mode}); {synced.unfinished} runs are not done.")
    for said in (*synced.places, *synced.damaged):
        print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
