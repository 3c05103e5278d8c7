"""What a run leaves on disk: configuration, manifest, rows and summary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from metrics.reserved_names import reserved
from runner.execution.errors import UserError
from runner.execution.manifest import new_manifest, now
from runner.execution.storage_errors import StorageError
from runner.files.atomic_files import read_json
from runner.integrity.source import made_elsewhere, mixture
from runner.store.arrays.pictures import stored_pictures
from runner.store.logger_protocol import Logger
from runner.store.run_folder import RunFolder
from runner.store.short_hash import SCHEMA
from runner.store.written_config import config_texts

UNSUMMARISED = ("records", "files")
"""What of a result its summary does not hold."""


@dataclass(frozen=True)
class Measurement:
    """What was measured at one point of a run: value by metric, and the cost up to there.

    Attributes:
        step: transitions, iterations or temperatures, as the task counts.
        evaluations: of the target per chain, all replicas counted.
        seconds: without measuring; where runs share a batch, this run's part.

    Raises:
        UserError: if a value has the name of something that is told of a run itself, such as its seed.
    """

    step: int
    evaluations: int
    seconds: float
    values: dict[str, float]

    def __post_init__(self) -> None:
        if (taken := reserved(self.values)) is not None:
            raise UserError(f"A task must give another name to its value {taken}, which is the run's own.")


@dataclass(frozen=True)
class RunResult:
    """What one run measured; the same for all tasks.

    Attributes:
        target, sampler: what they are called in results.
        records: in order of the steps; the last one is the run's result, and its cost that of the run.
        wall_seconds: this run's part of the time of its batch, with measuring.
        batch: how many runs shared its batch.
        exact: the kernel's claim; None where there is no sampler.
        axes: leading axes of the kernel.
        notes: footnotes to the numbers, such as that a data set is a subset.
        model: the file of the model that was sampled, learned or evaluated.
        rungs: what a ladder did by rung, see `metrics.mixing.swaps.rates_by_rung`; where a model is learned,
            in the iterations of the training's last record, with the inverse temperatures of a tuned ladder.
        tuning: what the tuning of the sampler was, see `runner.problem.tuning_cache.tuned`; None without one.
        files: further files of the run, content by name.
    """

    target: str
    sampler: str
    seed: int
    records: list[Measurement]
    wall_seconds: float
    batch: int = 1
    exact: bool | None = None
    axes: Sequence[int] = ()
    notes: Sequence[str] = ()
    model: str | None = None
    rungs: Mapping[str, list[float]] | None = None
    tuning: Mapping[str, Any] | None = None
    files: dict[str, bytes] = field(default_factory=dict)


def start_runs(
    content: Mapping[str, Any],
    device: str,
    folders: dict[int, RunFolder],
    logger: Logger,
    about: Mapping[str, Any],
) -> dict[int, dict[str, Any]]:
    """Writes configuration and manifest of each run; the manifests by seed. Damaged results are set aside.

    Args:
        content: of the configuration, without the seed.
        about: what the logger is told besides, see `runner.store.logger_protocol.Logger.start`.
    """
    texts, manifests = config_texts(content, folders), {}
    for seed, folder in folders.items():
        folder.set_damaged_aside()
        manifests[seed] = new_manifest(device, content["threads"], folder.manifest())
        folder.start(texts[seed], manifests[seed])
        logger.start(folder.run_id, {**content, "seed": seed}, {**manifests[seed], **about})
    return manifests


def finish_run(
    config: DictConfig,
    result: RunResult,
    folder: RunFolder,
    manifest: dict[str, Any],
    logger: Logger,
    about: dict[str, Any],
) -> None:
    """Writes rows, summary and further files of one run.

    Args:
        about: what the summary says besides the result: its `settings`, and the `sources` that computed it,
            more than one where the source code changed during an interruption.
    """
    rows = rows_of(result, folder.run_id, config.experiment or "")
    summary = summary_of(result, folder.run_id) | about
    summary["notes"] += mixture(about["sources"])
    summary["notes"] += made_elsewhere(about["sources"], result.tuning, _training(result.model))
    folder.finish(rows, summary, manifest | {"finished": now()}, result.files)
    for record in result.records:
        pictures = partial(stored_pictures, folder.path) if record is result.records[-1] else None
        logger.log(folder.run_id, record.step, {"seconds": record.seconds, **_values(record)}, pictures)
    logger.finish(folder.run_id, summary)


def _training(model: str | None) -> dict[str, Any] | None:
    """The report of the training beside a model's file; None where there is none that can be read."""
    if model is None:
        return None
    path = Path(model)
    with suppress(StorageError):  # a note is no reason to lose a finished run
        return read_json((path if path.is_dir() else path.parent) / "model.json")
    return None


def rows_of(result: RunResult, run_id: str, experiment: str) -> list[dict[str, Any]]:
    """The long-format rows of a run, in order of step and metric."""
    return [
        {
            "schema": SCHEMA,
            "experiment": experiment,
            "run_id": run_id,
            **{key: getattr(result, key) for key in ("target", "sampler", "seed")},
            **{key: getattr(record, key) for key in ("step", "seconds", "evaluations")},
            "metric": metric,
            "value": value,
        }
        for record in result.records
        for metric, value in _values(record).items()
    ]


def summary_of(result: RunResult, run_id: str) -> dict[str, Any]:
    """The summary of a run; a value that is not finite is null."""
    last = result.records[-1]
    values = _values(last)
    return {
        "schema": SCHEMA,
        "status": "done",
        "run_id": run_id,
        "steps": last.step,
        "evaluations": last.evaluations,
        "seconds": last.seconds,
        **{each.name: getattr(result, each.name) for each in fields(result) if each.name not in UNSUMMARISED},
        "metrics": {metric: value if math.isfinite(value) else None for metric, value in values.items()},
        "axes": list(result.axes),
        "notes": list(result.notes),
    }


def _values(record: Measurement) -> dict[str, float]:
    """Metric values at a recorded point, and what they cost in evaluations."""
    return {"evaluations": float(record.evaluations), **dict(sorted(record.values.items()))}
