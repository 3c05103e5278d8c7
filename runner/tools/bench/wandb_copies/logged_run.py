"""``python -m runner.tools.bench.wandb_copies.logged_run FOLDER SECONDS``: what logging one run costs.

Prints CPU seconds, those of W&B's own process among them, and the seconds for which the run waits.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np

from runner.config.run_settings import changed_settings
from runner.execution.manifest import new_manifest
from runner.execution.memory.garbage import collect_once_imported, imported
from runner.problem.metric_directions import metric_class
from runner.store.run_files import RunResult, summary_of
from runner.store.written_config import written_settings
from runner.sweep.jobs import jobs_of, requested
from runner.sweep.launch import run_one as _loaded  # noqa: F401  what a run has loaded anyway
from runner.tools.bench.report.synthetic_runs import synthetic_records


def main(folder: Path, seconds: float) -> None:
    """Logs the points of a run over so many seconds, from the import of W&B's client to its end."""
    config = written_settings(jobs_of(requested(["target=mog", "sampler=dmala"], multirun=False))[0].config)
    about = {**new_manifest("cpu", 1, None), "settings": changed_settings(config)}
    records = synthetic_records(0)
    for node in config["metric"].values():
        if isinstance(node, dict):
            metric_class("", node.get("_target_"))  # a run has loaded its metrics
    summary = summary_of(RunResult("mog", "dmala", 0, records, seconds), "a")
    imported()
    visits = np.random.default_rng(0).poisson(3.0, 101 * 101)
    before, started, slept = _cpu_seconds(), time.perf_counter(), 0.0

    from runner.loggers.wandb import WandbLogger

    logger = WandbLogger(directory=str(folder))
    logger.start("a", config, about)
    for record in records:
        time.sleep(seconds / len(records))
        slept += seconds / len(records)
        values = {"seconds": record.seconds, "evaluations": float(record.evaluations), **record.values}
        logger.log("a", record.step, values, lambda: {"visits": visits})
    logger.finish("a", summary)
    logger.places()
    import wandb

    wandb.teardown()
    print(_cpu_seconds() - before, time.perf_counter() - started - slept)


def _cpu_seconds() -> float:
    """Of this process and of those that it has waited for."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    collect_once_imported()
    main(Path(sys.argv[1]), float(sys.argv[2]))
