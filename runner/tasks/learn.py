"""The task `learn`: a model learned with a sampler, and the likelihood that it gives to data."""

from __future__ import annotations

import time

from omegaconf import DictConfig
from safetensors import SafetensorError
from safetensors.torch import load_file

from metrics.likelihood.target_log_partition import evenly
from runner.models.learned_target import trained
from runner.models.recipe import data_of, recipe_of
from runner.models.trained_model import KeptModel
from runner.problem.build import build_kernel, label
from runner.store.draw_files import FILE, IMAGES, MOST, packed
from runner.store.run_files import Measured, Record
from runner.store.run_store import RunFolder, Store
from runner.tasks.likelihood.ais_settings import ais_settings
from runner.tasks.likelihood.model_likelihood import likelihood
from samplers.tuning.tunable import Tunable, fixed
from targets.datasets.dataset import Dataset


def learn(config: DictConfig, seed: int, store: Store, folder: RunFolder) -> Measured:
    """Trains the model of `seed` unless it is kept already, and measures its likelihood.

    The run's steps are the iterations; what was seen along the training are its records.

    Raises:
        RunError: if the training fails; the last good checkpoint stays.
    """
    begun = time.monotonic()
    recipe, settings = recipe_of(config, seed), ais_settings(config)
    kept = trained(recipe, config, store)
    report, data = kept.metadata, data_of(recipe, config)
    kept.check_data(data)
    records = [
        Record(point["iteration"], point["evaluations"], point["seconds"], dict(point["values"]))
        for point in report["history"]
    ]
    values = likelihood(kept.target, data, settings, seed, config, folder.checkpoint)
    last = records.pop() if records and records[-1].step == recipe.settings.iterations else None
    seconds, evaluations = float(report["seconds"]), int(report["evaluations"])
    seen = last.values if last is not None else {}
    records.append(Record(recipe.settings.iterations, evaluations, seconds, {**seen, **values}))
    sampler = build_kernel(config)
    return Measured(
        target=label(config, "target"),
        sampler=label(config, "sampler"),
        seed=seed,
        records=records,
        steps=recipe.settings.iterations,
        evaluations=evaluations,
        seconds=seconds,
        wall_seconds=time.monotonic() - begun,
        exact=bool(fixed(sampler).exact),
        axes=() if isinstance(sampler, Tunable) else sampler.axes,
        notes=kept.notes,
        model=str(kept.path),
        files=_pictures(kept, data),
    )


def _pictures(kept: KeptModel, data: Dataset) -> dict[str, bytes]:
    """Where the chains of the training ended, and test images to be set beside them."""
    # A set may be sorted by class.
    images = evenly(data.test, MOST).reshape(-1, *data.shape).numpy() > 0
    try:
        samples = load_file(kept.path.parent / "samples.safetensors")["samples"][:MOST]
    except (OSError, KeyError, SafetensorError):
        return {IMAGES: packed(images)}  # a model of before samples were kept
    return {FILE: packed(samples.reshape(-1, *data.shape).numpy() > 0), IMAGES: packed(images)}
