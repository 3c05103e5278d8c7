"""The images that a sampler makes: drawn once for each sampler, model and seed, kept, and shared by tasks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock
from omegaconf import DictConfig
from torch import Tensor

from metrics.statistics.thinned_draws import ThinnedDraws
from runner.config.digest import digest
from runner.execution import signals
from runner.execution.atomic_files import read_json, set_aside, write_bytes, write_json
from runner.execution.checkpoint import UnusableCheckpointError, load, save
from runner.execution.devices import device_type
from runner.execution.errors import RunError, warn
from runner.execution.manifest import git, now
from runner.execution.progress import current
from runner.problem.build import build, label
from runner.problem.cached_reference_sample import with_model
from runner.problem.tuning_cache import tuned
from runner.store.draw_files import FILE, kept_draws, packed
from runner.store.run_files import Measured, Record
from runner.store.run_store import Store
from runner.tasks.images.image_settings import TRAINING, data_of_target, image_settings, sampling
from runner.tasks.run_identity import identifying
from runner.tasks.sample import Sampling, begin, measured, sample
from targets.datasets.dataset import Dataset
from targets.randomness import derive_seed


@dataclass(frozen=True)
class Images:
    """Images, and how they were made.

    Attributes:
        pixels: zeros and ones, uint8, ``(n, height, width)``.
        folder: where they are kept, and what is made of them.
        report: target, sampler, steps, evaluations, seconds, exact, axes, notes, model, and the `values`
            measured while they were made.
    """

    pixels: Tensor
    folder: Path
    report: Mapping[str, Any]

    def measured(self, seed: int, values: Mapping[str, float], seconds: float, begun: float) -> Measured:
        """What a task that used them reports: its `values` beside those of the images.

        Args:
            seconds: that the task took beyond making the images.
            begun: `time.monotonic()` when it began.
        """
        made = self.report
        seconds += float(made["seconds"])
        record = Record(made["steps"], made["evaluations"], seconds, {**made["values"], **values})
        return Measured(
            target=made["target"],
            sampler=made["sampler"],
            seed=seed,
            records=[record],
            steps=made["steps"],
            evaluations=made["evaluations"],
            seconds=seconds,
            wall_seconds=time.monotonic() - begun,
            exact=made["exact"],
            axes=made["axes"],
            notes=made["notes"],
            model=made["model"],
        )


def images_of(config: DictConfig, seed: int, store: Store) -> Images:
    """The images that `config.task` asks for. The first process that asks makes them; others wait for it.

    Raises:
        UserError: if the target's data set or model cannot be had.
        RunError: if the chains meet NaN.
        Interrupted: if the process is told to stop; the sampling goes on from there next time.
    """
    folder = store.root / "images" / _identity(config, seed)
    found = _kept(folder)
    if found is None:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock"):
            found = _kept(folder)
            if found is None:
                _make(config, seed, store, folder)
                found = _kept(folder)
    assert found is not None
    return found


def _identity(config: DictConfig, seed: int) -> str:
    """What makes the images, and no more: how they are used afterwards is no part of it."""
    content = identifying(sampling(config), device_type(config.device))
    settings = image_settings(config)
    content["metric"] = {"thinning": settings.thinning}
    if settings.images == TRAINING:
        content = {key: content[key] for key in ("schema", "target")}
    return digest({**content, "images": settings.images, "samples": settings.samples, "seed": seed})


def _kept(folder: Path) -> Images | None:
    pixels, report = kept_draws(folder), read_json(folder / "images.json")
    if pixels is None or report is None or len(pixels) != report.get("samples"):
        return None
    return Images(torch.from_numpy(pixels), folder, report)


def _make(config: DictConfig, seed: int, store: Store, folder: Path) -> None:
    data, _, _ = data_of_target(config)
    settings = image_settings(config)
    if settings.images == TRAINING:
        pixels, report = _training_images(data, settings.samples, seed)
        report["target"] = f"{config.target.get('name')}/{data.name}"
    else:
        pixels, report = _sampled(config, seed, store, folder / "checkpoint.pt")
        pixels = pixels[: settings.samples]
    report |= {"samples": settings.samples, "created": now(), "git": git()}
    write_bytes(folder / FILE, packed(pixels.reshape(-1, *data.shape).numpy()))
    write_json(folder / "images.json", report)
    (folder / "checkpoint.pt").unlink(missing_ok=True)


def _training_images(data: Dataset, samples: int, seed: int) -> tuple[Tensor, dict[str, Any]]:
    generator = torch.Generator().manual_seed(derive_seed(seed, "training images"))
    chosen = torch.randperm(len(data.train), generator=generator)[:samples]
    report = {"sampler": "training images", "steps": 0, "evaluations": 0, "seconds": 0.0, "values": {}}
    report |= {"exact": True, "axes": [], "notes": [data.note] if data.note else [], "model": None}
    return data.train[chosen], report


def _sampled(config: DictConfig, seed: int, store: Store, checkpoint: Path) -> tuple[Tensor, dict[str, Any]]:
    """The sampler's images ``(n, pixels)``, all chains of one draw before those of the next; the report."""
    config = sampling(config)
    problem, tuning = tuned(with_model(build(config), store), store)
    problem = problem.prepared()
    run = begin(problem, [seed])
    if checkpoint.exists():
        try:
            run.load_state_dict(load(checkpoint)["sampling"])
        except (UnusableCheckpointError, KeyError):
            warn(f"the checkpoint {checkpoint} cannot be used; it was moved to {set_aside(checkpoint)}.")
            run = begin(problem, [seed])
    progress = current()
    title = f"images of {label(config, 'target')} / {label(config, 'sampler')}"
    progress.begin(title, problem.settings.steps, run.step)
    try:
        with signals.deferred():
            sample(problem, run, _Watch(checkpoint, config.checkpoint.seconds))
    finally:
        progress.end()
    draws = run.suite.metrics["thinned_draws"]
    assert isinstance(draws, ThinnedDraws)
    bits = draws.kept[:, 0].flatten(0, 1).cpu().numpy()
    pixels = torch.from_numpy(np.unpackbits(bits, axis=1, count=draws.pixels))
    result = measured(problem, run, seed)
    names = ("target", "sampler", "steps", "evaluations", "seconds", "exact", "model")
    report = {name: getattr(result, name) for name in names}
    values = result.records[-1].values
    return pixels, {
        **report,
        "axes": list(result.axes),
        "notes": list(result.notes),
        "values": {name: value for name, value in values.items() if np.isfinite(value)},
        "tuning": tuning,
    }


class _Watch:
    """Looks at the sampling between blocks of steps: NaN, progress, checkpoint, signals."""

    def __init__(self, checkpoint: Path, every: float) -> None:
        self.checkpoint, self.every, self.saved_at = checkpoint, every, time.monotonic()

    def __call__(self, run: Sampling) -> None:
        if run.not_a_number():
            raise RunError(f"The target gave NaN or infinity as a log density by step {run.step}.")
        current().at(run.step)
        if time.monotonic() - self.saved_at >= self.every or signals.wanted():
            save(self.checkpoint, {"sampling": run.state_dict()})
            self.saved_at = time.monotonic()
        signals.obey()
