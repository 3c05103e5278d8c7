"""Runs that nobody computed: their files are those of real ones, their numbers are drawn."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from runner.config.run_settings import changed_settings
from runner.execution.manifest import new_manifest, now
from runner.integrity.file_digest import digest_of
from runner.store.arrays.array_files import VISITS
from runner.store.arrays.npz_content import compressed
from runner.store.arrays.series_file import CHAINS, SERIES
from runner.store.run_files import Measurement, RunResult, rows_of, summary_of
from runner.store.run_folder import RunFolder
from runner.store.short_hash import short_hash
from runner.store.written_config import written_settings
from runner.sweep.jobs import experiment_jobs, jobs_of, requested

METRICS = (
    "acceptance",
    "emc",
    "ess",
    "jump",
    "kl",
    "mmd",
    "mmd_exact",
    "mmd_unshared_features",
    "rhat",
    "tv",
)
POINTS, POINTS_OF_SERIES = 8, 200
STEPS = 2000
SEEDS = 10
COMPONENTS = (4, 8, 12, 16)
"""Of the mixtures that the synthetic grid is over."""

STEP_SIZES = 32


class UnflushedRun(RunFolder):
    """A run most of whose files are not flushed to the disk, which takes minutes for thousands of runs."""

    def _write(self, name: str, content: bytes) -> None:
        (self.path / name).write_bytes(content)
        self._written[name] = digest_of(content)


def write_grid(root: Path, runs: int, first: int = 0) -> None:
    """Writes `runs` runs of a grid over targets, samplers, step sizes and seeds, the ones from `first` on.

    A run has 8 recorded points of 10 metrics, visits to the states of a grid of 101 x 101, and U along
    eight chains.
    """
    request = requested(["target=mog", "sampler=dmala,acs,ab", "task.record=8"], multirun=True)
    configs = [written_settings(job.config) for job in jobs_of(request)]
    for place in range(first, first + runs):
        variant, seed = divmod(place, SEEDS)
        config = configs[variant % len(configs)]
        components = COMPONENTS[variant // len(configs) % len(COMPONENTS)]
        step_size = 2.0 ** (variant // len(configs) // len(COMPONENTS) % STEP_SIZES / 4)
        own = {
            **config,
            "seed": seed,
            "target": {**config["target"], "components": components},
            "sampler": {**config["sampler"], "step_size": step_size},
        }
        run = UnflushedRun(root / "runs" / short_hash({"synthetic": place}))
        write_run(run, own, synthetic_records(place), visits=True)


def planned_runs(root: Path, experiment: str) -> list[tuple[RunFolder, dict[str, Any]]]:
    """Folder and configuration of every run of an experiment at the scale quick, none of them written."""
    return [
        (UnflushedRun(root / "runs" / run_id), written_settings(job.config) | {"seed": seed})
        for job in experiment_jobs(experiment, ["scale=quick", f"output_root={root}"])
        for seed, run_id in job.run_ids.items()
    ]


def synthetic_records(
    place: int, metrics: Sequence[str] = METRICS, points: int = POINTS
) -> list[Measurement]:
    """Values of `metrics` at so many points; the same `place` gives the same numbers."""
    numbers = random.Random(place)
    return [
        Measurement(
            STEPS * point // points,
            STEPS * point // points,
            0.01 * point,
            {name: numbers.uniform(0.1, 1.0) / point for name in metrics},
        )
        for point in range(1, points + 1)
    ]


def write_run(
    folder: RunFolder, config: Mapping[str, Any], records: list[Measurement], *, visits: bool = False
) -> None:
    """Writes a finished run with the plain configuration `config`, whose seed is a number."""
    manifest = new_manifest("cpu", 1, None)
    folder.prepare()
    folder.start(yaml.safe_dump(dict(config), sort_keys=False), manifest)
    sampler = config["sampler"].get("name") or str(config["task"].get("method"))
    result = RunResult(str(config["target"]["name"]), sampler, config["seed"], records, 0.1, exact=True)
    rows = rows_of(result, folder.run_id, str(config.get("experiment") or ""))
    about: dict[str, Any] = {"settings": changed_settings(config), "tuning": None, "sources": []}
    files = {}
    if visits:
        numbers = np.random.default_rng(config["seed"])
        files[VISITS] = compressed(visits=numbers.poisson(3.0, 101 * 101).astype(np.int64))
        series = numbers.normal(size=(POINTS_OF_SERIES, CHAINS)).astype(np.float32)
        files[SERIES] = compressed(steps=np.arange(POINTS_OF_SERIES) * 8, log_prob=series)
    summary = summary_of(result, folder.run_id) | about
    folder.finish(rows, summary, {**manifest, "finished": now()}, files)
