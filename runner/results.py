"""What a batch of runs leaves on disk: configuration, manifest, rows and summary, one of each per run."""

from __future__ import annotations

import math
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf

from runner.build import Problem, label
from runner.identity import PARTS, SCHEMA
from runner.logger import Mirror
from runner.manifest import new_manifest, now
from runner.store import RunFolder
from runner.tasks.sample import Sampling
from runner.visits import visits_of

KEPT = (*PARTS, "scale", "logger", "device", "dtype", "output_root", "experiment", "threads")
"""Keys of a configuration that are kept with a run; its seed joins them."""


def begin_runs(problem: Problem, folders: dict[int, RunFolder], told: Mirror) -> dict[int, dict[str, Any]]:
    """Writes configuration and manifest of each run; the manifests by seed."""
    config = {key: resolved(problem.config, key) for key in KEPT}
    manifests = {}
    for seed, folder in folders.items():
        manifests[seed] = new_manifest(problem.device.type, folder.manifest())
        own = config | {"seed": seed}
        folder.begin(yaml.safe_dump(own, sort_keys=False, allow_unicode=True), manifests[seed])
        told.start(folder.run_id, own)
    return manifests


def finish_runs(
    problem: Problem,
    run: Sampling,
    tuning: dict[str, Any] | None,
    folders: dict[int, RunFolder],
    manifests: dict[int, dict[str, Any]],
    told: Mirror,
) -> None:
    """Writes rows, summary and visits of each run in `folders`."""
    for seed, folder in folders.items():
        rows = rows_of(problem, run, seed, folder.run_id)
        summary = summary_of(problem, run, seed, folder.run_id) | {"tuning": tuning}
        visits = visits_of(run.suite, list(run.seeds).index(seed))
        folder.finish(rows, summary, manifests[seed] | {"finished": now()}, visits)
        for record in run.records:
            told.log(folder.run_id, record["step"], values_of(run, record, seed))
        told.finish(folder.run_id, summary)


def rows_of(problem: Problem, run: Sampling, seed: int, run_id: str) -> list[dict[str, Any]]:
    """The long-format rows of one run of the batch, in order of step and metric."""
    config = problem.config
    return [
        {
            "schema": SCHEMA,
            "experiment": config.experiment or "",
            "run_id": run_id,
            "target": label(config, "target"),
            "sampler": label(config, "sampler"),
            "seed": seed,
            "step": record["step"],
            "seconds": share(run, record["seconds"]),
            "evaluations": record["evaluations"],
            "metric": metric,
            "value": value,
        }
        for record in run.records
        for metric, value in values_of(run, record, seed).items()
    ]


def summary_of(problem: Problem, run: Sampling, seed: int, run_id: str) -> dict[str, Any]:
    """The summary of one run of the batch; a value that is not finite is null."""
    values = values_of(run, run.records[-1], seed)
    return {
        "schema": SCHEMA,
        "status": "done",
        "run_id": run_id,
        "seed": seed,
        "target": label(problem.config, "target"),
        "sampler": label(problem.config, "sampler"),
        "metrics": {metric: value if math.isfinite(value) else None for metric, value in values.items()},
        "seconds": share(run, run.seconds),
        "wall_seconds": share(run, run.wall_seconds),
        "steps": run.step,
        "evaluations": run.evaluations,
        "batch": len(run.seeds),
        "exact": bool(problem.kernel.exact),
        "axes": list(problem.kernel.axes),
    }


def resolved(config: DictConfig, key: str) -> Any:
    """The value at `key` as plain numbers, texts, dictionaries and lists."""
    value = config[key]
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def values_of(run: Sampling, record: dict[str, Any], seed: int) -> dict[str, float]:
    """Metric values of one run of the batch at a recorded point, and what they cost in evaluations."""
    place = list(run.seeds).index(seed)
    values = {metric: by_seed[place] for metric, by_seed in sorted(record["values"].items())}
    return {"evaluations": float(record["evaluations"]), **values}


def share(run: Sampling, seconds: float) -> float:
    """A run's part of the time that its batch took."""
    return seconds / len(run.seeds)
