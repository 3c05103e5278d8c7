"""What the task `learn` computes: a model, and the likelihood that it gives to data."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import torch
from omegaconf import DictConfig

from metrics.likelihood.target_log_partition import evenly
from runner.execution.devices import floating_point
from runner.execution.errors import UserError, one_sentence
from runner.files.tensor_files import UnreadableTensorsError, read_tensors
from runner.models.learned_target import trained
from runner.models.recipe import data_of, recipe_of, untrained
from runner.models.trained_model import SAMPLES_FILE, TrainedModel
from runner.models.training.draws_check import check_draws
from runner.problem.build import build_kernel, label
from runner.store.arrays.array_files import DRAWS, IMAGES, MOST, binary_images, images_file
from runner.store.run_files import Measurement, RunResult
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store
from runner.tasks.likelihood.ais_settings import ais_settings
from runner.tasks.likelihood.bracketing import warn_of_bracket
from runner.tasks.likelihood.model_likelihood import check_likelihood, likelihood
from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.not_compiled import NotCompiledError
from samplers.stepper import Stepper
from samplers.tuning.tunable import Tunable, fixed
from targets.datasets.dataset import Dataset
from targets.randomness import Streams


def learned_run(config: DictConfig, seed: int, store: Store, folder: RunFolder) -> RunResult:
    """The result of `runner.tasks.learn_task.Learn.run`."""
    started = time.monotonic()
    recipe, settings = recipe_of(config, seed), ais_settings(config)
    model = trained(recipe, config, store)
    report, data = model.metadata, data_of(recipe, config)
    model.check_data(data)
    records = [
        Measurement(point["iteration"], point["evaluations"], point["seconds"], dict(point["values"]))
        for point in report["history"]
    ]
    measured = likelihood(model.target, data, settings, seed, config, folder.checkpoint)
    warn_of_bracket(measured.values, seed)
    last = records.pop() if records and records[-1].step == recipe.settings.iterations else None
    seconds, evaluations = float(report["seconds"]), int(report["evaluations"])
    found = {**(last.values if last is not None else {}), **_chosen(report), **measured.values}
    records.append(Measurement(recipe.settings.iterations, evaluations, seconds, found))
    sampler = build_kernel(config)
    return RunResult(
        target=label(config, "target"),
        sampler=label(config, "sampler"),
        seed=seed,
        records=records,
        wall_seconds=measured.earlier_seconds + time.monotonic() - started,
        exact=bool(fixed(sampler).exact),
        axes=() if isinstance(sampler, Tunable) else sampler.axes,
        notes=model.notes,
        model=str(model.path),
        files=_pictures(model, data),
        rungs=report["history"][-1].get("rungs") if report["history"] else None,
    )


def _chosen(report: Mapping[str, Any]) -> dict[str, float]:
    """The validation of the model that results, which is the best of all; nothing without validations."""
    best = report.get("best")
    if best is None:
        return {}
    return {
        "best_validation_log_likelihood": best["log_likelihood"],
        "best_validation_log_likelihood_se": best["standard_error"],
    }


def check_learning(config: DictConfig) -> None:
    """Tries what the task `learn` needs: its recipe, its data set, its kernel on the untrained model.

    Raises:
        UserError: naming what is refused.
    """
    settings = ais_settings(config)
    recipe = recipe_of(config, 0)
    data = data_of(recipe, config)
    target = untrained(recipe, data).to(dtype=floating_point(config.dtype)).requires_grad_(False)
    check_likelihood(target, settings)
    sampler = build_kernel(config)
    kernel = fixed(sampler).to(target.like())
    try:
        sampler.check(target)
        check_draws(kernel)
        if not isinstance(sampler, Tunable):
            theta = target.initial((*kernel.axes, 1, 2), Streams([0], "start"))
            one = torch.ones((), dtype=theta.dtype)
            state = kernel.init(target, theta, one)
            if recipe.settings.compiled is True:
                Stepper(kernel, target, one, CounterStreams([0], "trial")).trace(state)
    except NotCompiledError as error:
        raise UserError(f"compile=true: {error}; compile=auto goes on without compiled steps.") from error
    except ValueError as error:
        raise UserError(f"sampler: {one_sentence(error)}.") from error


def _pictures(model: TrainedModel, data: Dataset) -> dict[str, bytes]:
    """Images of the last states of the training's chains, and test images."""
    # A set may be sorted by class.
    images = images_file(binary_images(evenly(data.test, MOST), data.shape))
    try:
        samples = read_tensors(model.path.parent / SAMPLES_FILE)[0]["samples"]
    except (UnreadableTensorsError, KeyError):
        return {IMAGES: images}  # older models have no samples beside them
    return {DRAWS: images_file(binary_images(samples, data.shape)), IMAGES: images}
