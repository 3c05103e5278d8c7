"""Copies the results of an experiment from the disk to Weights & Biases.

``python -m runner.wandb_sync pt_table1 [mode=offline] [scale=quick output_root=DIR ...]``

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

if TYPE_CHECKING:
    from runner.loggers.wandb import WandbLogger
    from runner.store.run_store import RunFolder

SETTINGS = ("mode", "project", "entity", "group", "tags")
"""Keys of the logger that may be given without ``logger.``."""


@dataclass(frozen=True)
class Synced:
    """How many runs were copied, how many are not done, whether there was a table, where, what is damaged."""

    runs: int
    unfinished: int
    table: bool
    mode: str
    damaged: tuple[str, ...] = ()


def sync(experiment: str, overrides: Sequence[str]) -> Synced:
    """Copies every finished run of `experiment`, and its table where one has been rendered.

    Raises:
        UserError: for an unknown experiment, an override that does not fit, or where wandb is missing.
    """
    from runner.config.construct import construct
    from runner.config.key_group import node
    from runner.store.damaged_runs import damaged_runs
    from runner.store.folder_digests import damaged_files
    from runner.store.logger_protocol import Logger
    from runner.store.run_store import Store
    from runner.sweep.jobs import experiment_jobs

    given = [f"logger.{one}" if one.split("=", 1)[0] in SETTINGS else one for one in overrides]
    jobs = experiment_jobs(experiment, ["logger=wandb", *given])
    config = jobs[0].config
    logger: WandbLogger = construct(node(config, "logger"), "logger", (Logger,))
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
    return Synced(len(done), len(folders) - len(done), copied, logger.mode, tuple(filter(None, damaged)))


def log_run(logger: WandbLogger, folder: RunFolder) -> bool:
    """Gives one run from its folder to the logger; False, and nothing given, where it is not done."""
    import yaml

    from runner.store.array_files import load_all_images

    summary, metrics = folder.summary(), folder.metrics()
    if summary is None or metrics is None:
        return False
    logger.forget_offline(folder.run_id)
    logger.start(folder.run_id, yaml.safe_load((folder.path / "config.yaml").read_text()))
    for step, rows in metrics.groupby("step", sort=True):
        logger.log(folder.run_id, int(str(step)), dict(zip(rows["metric"], rows["value"], strict=True)))
    if pictures := load_all_images(folder.path):
        logger.images(folder.run_id, pictures)
    logger.finish(folder.run_id, summary)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit status 2 for a mistake in the command."""
    return reported(lambda: _main(arguments))


def _main(arguments: Sequence[str] | None) -> int:
    experiment, overrides, _ = ExperimentParser("runner.wandb_sync", __doc__).experiment(arguments)
    synced = sync(experiment, overrides)
    table = " and the table" if synced.table else ""
    print(f"Copied {synced.runs} runs{table} ({synced.mode}); {synced.unfinished} runs are not done.")
    for said in synced.damaged:
        print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
