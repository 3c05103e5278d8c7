"""What a batch of runs leaves on disk: configuration, manifest, rows and summary, one of each per run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf

from runner.config.digest import PARTS, SCHEMA
from runner.execution.manifest import new_manifest, now
from runner.store.draw_files import sheets
from runner.store.logger import Mirror
from runner.store.run_store import RunFolder

KEPT = (*PARTS, "model", "scale", "logger", "device", "dtype", "output_root", "experiment", "threads")
"""Keys of a configuration that are kept with a run; its seed joins them."""


@dataclass(frozen=True)
class Record:
    """What was measured at one point of a run: value by metric, and what the way there cost."""

    step: int
    evaluations: int
    seconds: float
    values: dict[str, float]


@dataclass(frozen=True)
class Measured:
    """What one run measured, whatever its task.

    Attributes:
        target, sampler: what they are called in results.
        records: in order of the steps; the last one is the run's result.
        steps: transitions, iterations or temperatures, as the task counts.
        evaluations: of the target per chain, all replicas counted.
        seconds, wall_seconds: this run's part of the time of its batch, without and with measuring.
        batch: how many runs shared its batch.
        exact: the kernel's claim.
        axes: leading axes of the kernel.
        notes: what must be said beside the numbers, such as that a data set is a subset.
        model: where the model that was sampled, learned or evaluated is kept.
        files: what else is to be kept with the run, content by name.
    """

    target: str
    sampler: str
    seed: int
    records: list[Record]
    steps: int
    evaluations: int
    seconds: float
    wall_seconds: float
    batch: int = 1
    exact: bool = False
    axes: Sequence[int] = ()
    notes: Sequence[str] = ()
    model: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)


def begin_runs(
    config: DictConfig, device: str, folders: dict[int, RunFolder], told: Mirror
) -> dict[int, dict[str, Any]]:
    """Writes configuration and manifest of each run; the manifests by seed."""
    kept = {key: resolved(config, key) for key in KEPT}
    manifests = {}
    for seed, folder in folders.items():
        manifests[seed] = new_manifest(device, folder.manifest())
        own = kept | {"seed": seed}
        folder.begin(yaml.safe_dump(own, sort_keys=False, allow_unicode=True), manifests[seed])
        told.start(folder.run_id, own)
    return manifests


def finish_run(
    config: DictConfig,
    measured: Measured,
    folder: RunFolder,
    manifest: dict[str, Any],
    told: Mirror,
    *,
    tuning: dict[str, Any] | None = None,
) -> None:
    """Writes rows, summary and further files of one run."""
    rows = rows_of(measured, folder.run_id, config.experiment or "")
    summary = summary_of(measured, folder.run_id) | {"tuning": tuning}
    folder.finish(rows, summary, manifest | {"finished": now()}, measured.files)
    for record in measured.records:
        told.log(folder.run_id, record.step, _values(record))
    told.images(folder.run_id, sheets(folder.path))
    told.finish(folder.run_id, summary)


def rows_of(measured: Measured, run_id: str, experiment: str) -> list[dict[str, Any]]:
    """The long-format rows of a run, in order of step and metric."""
    return [
        {
            "schema": SCHEMA,
            "experiment": experiment,
            "run_id": run_id,
            "target": measured.target,
            "sampler": measured.sampler,
            "seed": measured.seed,
            "step": record.step,
            "seconds": record.seconds,
            "evaluations": record.evaluations,
            "metric": metric,
            "value": value,
        }
        for record in measured.records
        for metric, value in _values(record).items()
    ]


def summary_of(measured: Measured, run_id: str) -> dict[str, Any]:
    """The summary of a run; a value that is not finite is null."""
    values = _values(measured.records[-1])
    return {
        "schema": SCHEMA,
        "status": "done",
        "run_id": run_id,
        "seed": measured.seed,
        "target": measured.target,
        "sampler": measured.sampler,
        "metrics": {metric: value if math.isfinite(value) else None for metric, value in values.items()},
        "seconds": measured.seconds,
        "wall_seconds": measured.wall_seconds,
        "steps": measured.steps,
        "evaluations": measured.evaluations,
        "batch": measured.batch,
        "exact": measured.exact,
        "axes": list(measured.axes),
        "notes": list(measured.notes),
        "model": measured.model,
    }


def resolved(config: DictConfig, key: str) -> Any:
    """The value at `key` as plain numbers, texts, dictionaries and lists."""
    value = config[key]
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def _values(record: Record) -> dict[str, float]:
    """Metric values at a recorded point, and what they cost in evaluations."""
    return {"evaluations": float(record.evaluations), **dict(sorted(record.values.items()))}
