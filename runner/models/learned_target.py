"""Learned targets: a model is trained once for each recipe, kept, and reused by every run that names it.

A target whose configuration has a node `training` is learned. Before its weights are there it stands in
the runner as a blueprint: a model of the right size, with the weights that training starts from.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import torch
from filelock import FileLock
from omegaconf import DictConfig
from safetensors.torch import save as save_tensors

from runner.execution import signals
from runner.execution.atomic_files import set_aside, write_bytes, write_json
from runner.execution.checkpoint import UnusableCheckpointError, load, save
from runner.execution.devices import floating_point
from runner.execution.errors import UserError, one_sentence, warn
from runner.execution.manifest import git, now
from runner.execution.progress import current
from runner.models.model_files import save_model
from runner.models.recipe import Recipe, data_of, kernel_of, recipe_of, untrained
from runner.models.trained_model import KeptModel, kept_in, named_by
from runner.models.training import Training, TrainingError
from runner.store.run_store import Store
from targets.datasets.dataset import Dataset
from targets.target import Target

SAMPLES = 100
"""How many states of the last iteration's chains are kept beside the model, for pictures."""

BLOCK_ITERATIONS = 10
"""How many iterations pass before the loop looks up: progress, signals, checkpoint."""


def blueprint(config: DictConfig) -> Target:
    """A model of the size of the learned target of `config`, not trained; its data set or file is there.

    Raises:
        UserError: for a missing or damaged data set or file, or a size that is refused.
    """
    given = config.target.get("model")
    if given is not None and config.task.name != "learn":
        return named_by(config).target
    recipe = recipe_of(config, 0 if config.task.name == "learn" else None)
    kernel_of(recipe)
    kept = kept_in(Store(config.output_root).model(recipe.model_id))
    return kept.target if kept is not None else untrained(recipe, data_of(recipe, config))


def model_of(config: DictConfig, store: Store) -> KeptModel:
    """The trained model of the learned target of `config`; trained now if nobody has.

    Raises:
        UserError: if it cannot be trained or read.
    """
    if config.target.get("model") is not None:
        return named_by(config)
    recipe = recipe_of(config)
    kept = trained(recipe, config, store)
    try:
        data = data_of(recipe, config)
    except UserError:
        return kept  # a model that is trained is sampled without its data, too
    kept.check_data(data)
    return kept


def trained(recipe: Recipe, config: DictConfig, store: Store) -> KeptModel:
    """The model of `recipe`. The first process that asks trains it; others wait for it.

    Raises:
        UserError: if the data set is missing or the training fails.
        Interrupted: if the process is told to stop; the training goes on from there next time.
    """
    folder = store.model(recipe.model_id)
    kept = kept_in(folder)
    if kept is None:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock"):
            kept = kept_in(folder, locked=True)
            if kept is None:
                _train(recipe, config, folder)
                kept = kept_in(folder, locked=True)
    assert kept is not None
    return kept


def begun(recipe: Recipe, config: DictConfig) -> tuple[Training, Dataset]:
    """The training of `recipe` before its first iteration, and its data set.

    Raises:
        UserError: if the data set is missing, or model, kernel, data and settings do not fit together.
    """
    data = data_of(recipe, config)
    device, dtype = torch.device(recipe.device), floating_point(recipe.dtype)
    target = untrained(recipe, data).to(device=device, dtype=dtype)
    kernel = kernel_of(recipe)
    try:
        training = Training(
            target,
            kernel,
            data.train,
            recipe.settings,
            recipe.seed,
            data.validation,
            grey=data.grey,
            white=data.white,
            scoring=recipe.scoring,
        )
    except ValueError as error:
        raise UserError(f"The training cannot begin: {one_sentence(error)}.") from error
    return training, data


def _train(recipe: Recipe, config: DictConfig, folder: Path) -> None:
    """Trains from the beginning or from the checkpoint, and writes the model."""
    training, data = begun(recipe, config)
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.exists():
        try:
            training.load_state_dict(load(checkpoint)["training"])
        except (UnusableCheckpointError, KeyError, ValueError, RuntimeError) as error:
            warn(
                f"the checkpoint {checkpoint} cannot be used ({one_sentence(error)}); "
                f"it was moved to {set_aside(checkpoint)}, the training starts from the beginning."
            )
            _train(recipe, config, folder)
            return
    total, progress = recipe.settings.iterations, current()
    progress.begin(f"training {recipe.target.get('name')} on {data.name}", total, training.iteration)
    saved_at = time.monotonic()
    try:
        with signals.deferred():
            while not training.finished:
                good = training.state_dict()
                try:
                    training.advance(BLOCK_ITERATIONS, checkpoint)
                except TrainingError as error:
                    save(checkpoint, {"training": good})
                    raise TrainingError(error.iteration, error.loss, error.what, checkpoint) from error
                progress.at(training.iteration)
                if time.monotonic() - saved_at >= config.checkpoint.seconds or signals.wanted():
                    save(checkpoint, {"training": training.state_dict()})
                    saved_at = time.monotonic()
                signals.obey()
            _write(recipe, data, training, folder)
    finally:
        progress.end()
    checkpoint.unlink(missing_ok=True)


def _write(recipe: Recipe, data: Dataset, training: Training, folder: Path) -> None:
    report = {
        "recipe": recipe.content,
        "dataset": recipe.dataset,
        "binarisation": recipe.binarisation,
        "note": data.note,
        "shape": list(data.shape),
        "data_fingerprint": data.fingerprint(),
        "seconds": training.seconds,
        "evaluations": training.evaluations,
        "validation_seconds": training.validation_seconds,
        "validations": [asdict(score) for score in training.scores],
        "history": training.history,
        "created": now(),
        "git": git(),
    }
    if training.best is not None:
        report["best"] = asdict(training.best)
    write_json(folder / "model.json", report)
    write_bytes(folder / "samples.safetensors", save_tensors({"samples": training.samples(SAMPLES).cpu()}))
    passing = ("history", "seconds", "validation_seconds", "validations", "git", "created")
    metadata = {key: value for key, value in report.items() if key not in passing}
    save_model(folder / "model.safetensors", training.target, metadata)
