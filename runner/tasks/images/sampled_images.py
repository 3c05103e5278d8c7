"""The images that a sampler makes: drawn once for each sampler, model and seed, and shared by tasks."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig
from torch import Tensor

from metrics.statistics.thinned_draws import ThinnedDraws
from runner.execution.devices import device_type
from runner.execution.manifest import git, now
from runner.files.atomic_files import read_json, write_bytes, write_json
from runner.files.compute_once import compute_once, discard_damaged
from runner.files.resumable import completed, save_plan, sources_of
from runner.integrity.file_digest import digest_of
from runner.integrity.source import mixture
from runner.problem.cached_reference_sample import with_trained_target
from runner.problem.problems import Problems
from runner.problem.tuning_cache import tuned
from runner.store.arrays.array_files import DRAWS, images_file, load_images
from runner.store.folder_digests import FILES, changed
from runner.store.run_files import Measurement, RunResult
from runner.store.run_store import Store
from runner.store.short_hash import short_hash
from runner.tasks.images.image_task import TRAINING, data_of_target, image_settings, sampling
from runner.tasks.run_identity import run_identity
from runner.tasks.sample import Sampling, begin
from runner.tasks.sampled_runs import run_result
from targets.datasets.dataset import Dataset
from targets.randomness import derive_seed

REPORT = "images.json"


@dataclass(frozen=True)
class Images:
    """Images, and how they were made.

    Attributes:
        pixels: zeros and ones, uint8, ``(n, height, width)``.
        folder: where they lie, and the networks that are fitted to them.
        report: target, sampler, steps, evaluations, seconds, wall_seconds, exact, axes, notes, model, the
            `values` measured while they were made, and the `tuning` of a sampler.
    """

    pixels: Tensor
    folder: Path
    report: Mapping[str, Any]

    def result(
        self,
        seed: int,
        values: Mapping[str, float],
        seconds: float,
        started: float,
        notes: Sequence[str] = (),
    ) -> RunResult:
        """The result of a task that used them: its `values` beside those of the images.

        Args:
            seconds: that its fits to the images took.
            started: `time.monotonic()` when images and networks were there: the first process that asks makes
                them, and may train and tune for it, the others read them or wait.
            notes: footnotes to the task's values; those of the images join them.
        """
        made = self.report
        # Images of earlier versions do not say how long they took with measuring.
        wall = float(made.get("wall_seconds", made["seconds"])) + seconds + time.monotonic() - started
        seconds += float(made["seconds"])
        record = Measurement(made["steps"], made["evaluations"], seconds, {**made["values"], **values})
        return RunResult(
            target=made["target"],
            sampler=made["sampler"],
            seed=seed,
            records=[record],
            wall_seconds=wall,
            exact=made["exact"],
            axes=made["axes"],
            notes=[*made["notes"], *notes],
            model=made["model"],
            tuning=made.get("tuning"),
        )


def images_of(config: DictConfig, seed: int, store: Store, problems: Problems) -> Images:
    """The images that `config.task` asks for. The first process that asks makes them; others wait for it.

    Raises:
        UserError: if the target's data set or model cannot be had.
        RunError: if the chains meet NaN.
        Interrupted: if the process is told to stop; the sampling goes on from there next time.
    """
    folder = store.root / "images" / _identity(config, seed)
    return compute_once(
        folder / "lock", partial(_read, folder), lambda: _make(config, seed, store, folder, problems)
    )


def _identity(config: DictConfig, seed: int) -> str:
    """What makes the images, and no more: how they are used afterwards is no part of it."""
    content = run_identity(sampling(config), device_type(config.device))
    settings = image_settings(config)
    content["metric"] = {"thinning": settings.thinning}
    if settings.images == TRAINING:
        content = {key: content[key] for key in ("schema", "target", "files") if key in content}
    return short_hash({**content, "images": settings.images, "samples": settings.samples, "seed": seed})


def _read(folder: Path, *, locked: bool = False) -> Images | None:
    """The images in `folder`; see `runner.files.compute_once.Reader`."""
    if not (folder / REPORT).exists():
        return None  # written last
    pixels, report = load_images(folder), read_json(folder / REPORT)
    if report is None or changed(folder, report.pop(FILES, {})):
        why = f"it, or {DRAWS} beside it, is not what was written"
    elif pixels is None or len(pixels) != report.get("samples"):
        why = f"{DRAWS} beside it holds other images"
    else:
        return Images(torch.from_numpy(pixels), folder, report)
    discard_damaged(folder / REPORT, why, folder / DRAWS, locked=locked)
    return None


def _make(config: DictConfig, seed: int, store: Store, folder: Path, problems: Problems) -> None:
    data, _, _ = data_of_target(config)
    settings = image_settings(config)

    def write(pixels: Tensor, report: Mapping[str, Any]) -> None:
        made = {**report, "samples": settings.samples, "created": now(), "git": git()}
        content = images_file(pixels.reshape(-1, *data.shape).numpy())
        write_bytes(folder / DRAWS, content)
        write_json(folder / REPORT, {**made, FILES: {DRAWS: digest_of(content)}})

    if settings.images == TRAINING:
        pixels, report = _training_images(data, settings.samples, seed)
        write(pixels, {**report, "target": f"{config.target.get('name')}/{data.name}"})
        return
    config = sampling(config)
    problem, tuning = tuned(with_trained_target(problems.of(config), store), store)
    problem = problem.prepared()
    plan = save_plan(folder / "checkpoint.pt", config.checkpoint)
    with completed(lambda: begin(problem, [seed]), plan) as run:
        pixels, report = _sampled(run, seed)
        notes = [*report["notes"], *mixture(sources_of(plan.path))]
        write(pixels[: settings.samples], {**report, "notes": notes, "tuning": tuning})


def _training_images(data: Dataset, samples: int, seed: int) -> tuple[Tensor, dict[str, Any]]:
    generator = torch.Generator().manual_seed(derive_seed(seed, "training images"))
    chosen = torch.randperm(len(data.train), generator=generator)[:samples]
    report = {"sampler": "training images", "steps": 0, "evaluations": 0, "seconds": 0.0, "values": {}}
    report |= {"exact": True, "axes": [], "notes": [data.note] if data.note else [], "model": None}
    return data.train[chosen], report


def _sampled(run: Sampling, seed: int) -> tuple[Tensor, dict[str, Any]]:
    """The sampler's images ``(n, pixels)``, all chains of one draw before those of the next; the report."""
    draws = run.suite.metrics["thinned_draws"]
    assert isinstance(draws, ThinnedDraws)
    result = run_result(run, seed)
    last = result.records[-1]
    return draws.images(0).cpu(), {
        **{name: getattr(result, name) for name in ("target", "sampler", "exact", "model")},
        **{"steps": last.step, "evaluations": last.evaluations, "seconds": last.seconds},
        "wall_seconds": result.wall_seconds,
        "axes": list(result.axes),
        "notes": list(result.notes),
        "values": {name: value for name, value in last.values.items() if math.isfinite(value)},
    }
