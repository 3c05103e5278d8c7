"""Learned targets: a model is trained once for each recipe and read by every run that uses it.

A target whose configuration has a node `training` is learned. Until its weights are there, checks use a
blueprint: a model of the right size, with the weights that training starts from.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path

import torch
from omegaconf import DictConfig

from runner.execution.devices import floating_point
from runner.execution.errors import UserError, one_sentence
from runner.execution.manifest import git, now
from runner.files.atomic_files import write_json
from runner.files.compute_once import compute_once
from runner.files.resumable import completed, save_plan, sources_of
from runner.files.tensor_files import write_tensors
from runner.models.identity import MODEL_FILE
from runner.models.model_files import save_model
from runner.models.recipe import Recipe, data_of, kernel_of, recipe_of, untrained
from runner.models.trained_model import SAMPLES_FILE, TrainedModel, load_named, load_trained
from runner.models.training import Training, TrainingError, TrainingImages
from runner.store.run_store import Store
from targets import Dataset, Target

SAMPLES = 100
"""States of the last iteration's chains that are written beside the model, for pictures."""

BLOCK_ITERATIONS = 10
"""Iterations between two looks at progress, signals and the checkpoint."""


def blueprint(config: DictConfig) -> Target:
    """A model of the size of the learned target of `config`, not trained; its data set or file is there.

    Raises:
        UserError: for a missing or damaged data set or file, or a size that is refused.
    """
    if config.target.get("model") is not None:
        return load_named(config).target
    recipe = recipe_of(config)
    kernel_of(recipe)
    model = load_trained(Store(config.output_root).model(recipe.model_id))
    return model.target if model is not None else untrained(recipe, data_of(recipe, config))


def model_of(config: DictConfig, store: Store) -> TrainedModel:
    """The trained model of the learned target of `config`; trained now if it is not on disk.

    Raises:
        UserError: if it cannot be trained or read.
    """
    if config.target.get("model") is not None:
        return load_named(config)
    recipe = recipe_of(config)
    model = trained(recipe, config, store)
    try:
        data = data_of(recipe, config)
    except UserError:
        return model  # a trained model can be sampled without its data set
    model.check_data(data)
    return model


def trained(recipe: Recipe, config: DictConfig, store: Store) -> TrainedModel:
    """The model of `recipe`. The first process that asks trains it; others wait for it.

    Raises:
        UserError: if the data set is missing or the training fails.
        Interrupted: if the process is told to stop; the training goes on from there next time.
    """
    folder = store.model(recipe.model_id)
    return compute_once(
        folder / "lock", partial(load_trained, folder), lambda: _train(recipe, config, folder)
    )


def begin_training(recipe: Recipe, config: DictConfig) -> tuple[Training, Dataset]:
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
            TrainingImages(data.train, data.validation, data.grey, data.white, data.shape),
            recipe.settings,
            recipe.seed,
            scoring=recipe.scoring,
        )
    except ValueError as error:
        raise UserError(f"The training cannot start: {one_sentence(error)}.") from error
    return training, data


class _TrainingBlocks:
    """A training as resumable work, in blocks of a few iterations."""

    def __init__(self, training: Training, data: Dataset, title: str, checkpoint: Path) -> None:
        self.training, self.data, self.name, self.checkpoint = training, data, title, checkpoint
        self.load_state_dict, self.state_dict = training.load_state_dict, training.state_dict

    @property
    def title(self) -> str:
        pilot = self.training.chains.pilot
        return self.name if pilot is None else f"{self.name}, tuning {pilot.position} of {pilot.total}"

    @property
    def total(self) -> int:
        return self.training.settings.iterations

    @property
    def position(self) -> int:
        return self.training.iteration

    @property
    def done(self) -> bool:
        return self.training.finished

    def advance(self) -> None:
        self.training.advance(BLOCK_ITERATIONS, self.checkpoint, pausing=True)


def _train(recipe: Recipe, config: DictConfig, folder: Path) -> None:
    """Trains from the beginning or from the checkpoint, and writes the model."""
    plan = save_plan(folder / "checkpoint.pt", config.checkpoint, after_failure=True)

    def begin() -> _TrainingBlocks:
        training, data = begin_training(recipe, config)
        title = f"training {recipe.target.get('name')} on {data.name}"
        return _TrainingBlocks(training, data, title, plan.path)

    try:
        with completed(begin, plan) as work:
            _write(recipe, work.data, work.training, folder)
    except TrainingError as error:
        # Only now is the last good state on the disk, as the message says.
        raise TrainingError(error.iteration, error.loss, error.what, plan.path) from error


def _write(recipe: Recipe, data: Dataset, training: Training, folder: Path) -> None:
    report = {
        "recipe": recipe.content,
        "dataset": recipe.dataset,
        "binarisation": recipe.binarisation,
        "note": data.note,
        "shape": list(data.shape),
        "data_fingerprint": data.fingerprint(),
        "seconds": training.seconds,
        "evaluations": training.chains.evaluations,
        "validation_seconds": training.selection.seconds,
        "validations": [asdict(score) for score in training.selection.scores],
        "history": training.history.records,
        "created": now(),
        "git": git(),
        "sources": sources_of(folder / "checkpoint.pt"),
    }
    if training.selection.best is not None:
        report["best"] = asdict(training.selection.best)
    write_json(folder / "model.json", report)
    write_tensors(folder / SAMPLES_FILE, {"samples": training.samples(SAMPLES)}, {})
    left_out = ("history", "seconds", "validation_seconds", "validations", "git", "created", "sources")
    metadata = {key: value for key, value in report.items() if key not in left_out}
    save_model(folder / MODEL_FILE, training.target, metadata)
