"""Learned targets: a model is trained once for each recipe, kept, and reused by every run that names it.

A target whose configuration has a node `training` is learned. Before its weights are there it stands in
the runner as a blueprint: a model of the right size, with the weights that training starts from.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from omegaconf import DictConfig

from runner import interrupt
from runner.atomic import read_json, set_aside, write_json
from runner.checkpoint import UnusableCheckpointError, load, save
from runner.construct import construct, with_key
from runner.data import identifying as identifying_data
from runner.data import load as load_data
from runner.devices import device_type, floating_point
from runner.errors import UserError, one_sentence, warn
from runner.identity import NOT_LEARNED, SCHEMA, digest, model_file
from runner.manifest import git, now
from runner.model_files import load_model, save_model
from runner.node import node
from runner.progress import current
from runner.store import Store
from runner.training import Training, TrainingError, TrainingSettings
from samplers.kernel import Kernel
from targets.datasets.dataset import Dataset
from targets.target import Target

BLOCK_ITERATIONS = 10
"""How many iterations pass before the loop looks up: progress, signals, checkpoint."""

TRAINING_KEYS = (
    "method",
    "cd_steps",
    "iterations",
    "batch",
    "chains",
    "learning_rate",
    "tune_every",
)


@dataclass(frozen=True)
class Recipe:
    """Everything that makes a trained model.

    Attributes:
        target: the class and its size, as configured.
        dataset, binarisation: what it is trained on.
        settings: how.
        sampler: node of the kernel in the negative phase.
        seed: of its weights, of the order of the data and of the chains.
        device, dtype: where and in what precision.
        key: where the settings stand in the configuration, for messages.
    """

    target: dict[str, Any]
    dataset: str
    binarisation: str | None
    settings: TrainingSettings
    training: dict[str, Any]
    sampler: dict[str, Any]
    seed: int
    device: str
    dtype: str
    key: str = "target.training"

    @property
    def content(self) -> dict[str, Any]:
        """All of it, as it enters the identity and the file's metadata."""
        unread = ("chains",) if self.settings.method == "cd" else ()
        return {
            "schema": SCHEMA,
            "target": {key: value for key, value in self.target.items() if key != "name"},
            "data": identifying_data(self.dataset, self.binarisation),
            "training": {key: value for key, value in self.training.items() if key not in unread},
            "sampler": self.sampler,
            "seed": self.seed,
            "device": self.device,
            "dtype": self.dtype,
        }

    @property
    def model_id(self) -> str:
        """Identity of the model."""
        return digest(self.content)


@dataclass(frozen=True)
class KeptModel:
    """A trained model on disk.

    Attributes:
        target: the model, on the CPU.
        path: its file.
        metadata: what is known of it: data set, its note, recipe.
        trained_here: whether it is one of the output root's own; else the user named its file.
    """

    target: Target
    path: Path
    metadata: dict[str, Any]
    trained_here: bool = True

    def check_data(self, data: Dataset) -> None:
        """Refuses a data set that is not the one that the model was trained on, though its name is the same.

        Raises:
            UserError: saying how to keep them apart.
        """
        if self.metadata.get("data_fingerprint") not in (None, data.fingerprint()):
            raise UserError(
                f"The model {self.path} was trained on other images than the data set {data.name} holds now; "
                "another output_root, or the former data.root, keeps them apart."
            )

    @property
    def notes(self) -> list[str]:
        """What must be said beside a number measured on it."""
        note = self.metadata.get("note")
        return [str(note)] if note else []


def is_learned(config: DictConfig) -> bool:
    """Whether the target of `config` is one whose weights come from training."""
    return "training" in config.target


def recipe_of(config: DictConfig, seed: int | None = None) -> Recipe:
    """The recipe of a learned target: `target.training`, or for the task `learn` the task itself.

    Args:
        seed: of the model; by default `target.model_seed`.

    Raises:
        UserError: naming the key that is refused.
    """
    target, key = node(config, "target"), "target.training"
    training: Mapping[str, Any] = target.get("training") or {}
    sampler: Any = training.get("sampler")
    if seed is not None:
        training, sampler, key = node(config, "task"), node(config, "sampler"), "task"
    else:
        seed = target.get("model_seed", 0)
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise UserError(f"target.model_seed must be a whole number of at least 0, {seed!r} was given.")
    values = {name: training[name] for name in TRAINING_KEYS if name in training}
    try:
        settings = TrainingSettings(**values)
    except (ValueError, TypeError) as error:
        raise UserError(with_key(one_sentence(error), values, key)) from error
    own = {
        name: value for name, value in target.items() if name not in (*NOT_LEARNED, "dataset", "binarisation")
    }
    return Recipe(
        target=own,
        dataset=str(target.get("dataset")),
        binarisation=target.get("binarisation"),
        settings=settings,
        training=values,
        sampler=dict(sampler or {}),
        seed=seed,
        device=device_type(config.device),
        dtype=str(config.dtype),
        key=key,
    )


def data_of(recipe: Recipe, config: DictConfig) -> Dataset:
    """The data set of a recipe.

    Raises:
        UserError: if it is missing or damaged, or holds less than a batch.
    """
    data = load_data(recipe.dataset, recipe.binarisation, config.data.root)
    if recipe.settings.batch > len(data.train):
        raise UserError(
            f"{recipe.key}.batch must not exceed the {len(data.train)} training images of {data.name}, "
            f"{recipe.settings.batch} was given."
        )
    return data


def blueprint(config: DictConfig) -> Target:
    """A model of the size of the learned target of `config`, not trained; its data set or file is there.

    Raises:
        UserError: for a missing or damaged data set or file, or a size that is refused.
    """
    given = config.target.get("model")
    if given is not None and config.task.name != "learn":
        return _from_file(config).target
    recipe = recipe_of(config, 0 if config.task.name == "learn" else None)
    _kernel(recipe)
    kept = _read(Store(config.output_root).model(recipe.model_id))
    return kept.target if kept is not None else untrained(recipe, data_of(recipe, config))


def untrained(recipe: Recipe, data: Dataset) -> Target:
    """The model that training starts from, in float64 on the CPU."""
    described_target = {
        **recipe.target,
        "n_visible": data.train.shape[1],
        "mean": data.mean(),
        "seed": recipe.seed,
    }
    target = construct(described_target, "target")
    if not isinstance(target, Target):
        raise UserError(f"target._target_={recipe.target['_target_']} is no targets.target.Target.")
    return target


def model_of(config: DictConfig, store: Store) -> KeptModel:
    """The trained model of the learned target of `config`; trained now if nobody has.

    Raises:
        UserError: if it cannot be trained or read.
    """
    if config.target.get("model") is not None:
        return _from_file(config)
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
    kept = _read(folder)
    if kept is None:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock"):
            kept = _read(folder, locked=True)
            if kept is None:
                _train(recipe, config, folder)
                kept = _read(folder, locked=True)
    assert kept is not None
    return kept


def _train(recipe: Recipe, config: DictConfig, folder: Path) -> None:
    """Trains from the beginning or from the checkpoint, and writes the model."""
    data = data_of(recipe, config)
    device, dtype = torch.device(recipe.device), floating_point(recipe.dtype)
    target = untrained(recipe, data).to(device=device, dtype=dtype)
    kernel = _kernel(recipe).to(target.like())
    try:
        training = Training(target, kernel, data.train, recipe.settings, recipe.seed, data.validation)
    except ValueError as error:
        raise UserError(f"The training cannot begin: {one_sentence(error)}.") from error
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
        with interrupt.deferred():
            while training.iteration < total:
                good = training.state_dict()
                try:
                    training.advance(min(BLOCK_ITERATIONS, total - training.iteration), checkpoint)
                except TrainingError as error:
                    save(checkpoint, {"training": good})
                    raise TrainingError(error.iteration, error.loss, error.what, checkpoint) from error
                progress.at(training.iteration)
                if time.monotonic() - saved_at >= config.checkpoint.seconds or interrupt.wanted():
                    save(checkpoint, {"training": training.state_dict()})
                    saved_at = time.monotonic()
                interrupt.obey()
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
        "history": training.history,
        "created": now(),
        "git": git(),
    }
    write_json(folder / "model.json", report)
    passing = ("history", "seconds", "git", "created")
    metadata = {key: value for key, value in report.items() if key not in passing}
    save_model(folder / "model.safetensors", training.target, metadata)


def _read(folder: Path, *, locked: bool = False) -> KeptModel | None:
    """The model kept in `folder` with the report of its training; None where one of them is not whole.

    Only the holder of the folder's lock sets a damaged one aside: to others it may be whole again by then.
    """
    path, report = folder / "model.safetensors", read_json(folder / "model.json")
    if not path.is_file():
        return None
    try:
        target, metadata = load_model(path)
        if report is None or "history" not in report:
            raise UserError(f"{folder / 'model.json'} is missing or no report of a training.")
    except UserError as error:
        if locked:
            warn(f"{one_sentence(error)} {path} was moved to {set_aside(path)}, the training is redone.")
        return None
    return KeptModel(target, path, {**metadata, **report})


def _from_file(config: DictConfig) -> KeptModel:
    path = model_file(config.target.model, "target.model")
    target, metadata = load_model(path)
    # Weights alone do not say what they learned; the configuration does.
    own = {key: config.target.get(key) for key in ("dataset", "binarisation")}
    return KeptModel(target, path, {**own, **metadata}, trained_here=False)


def _kernel(recipe: Recipe) -> Kernel:
    kernel = construct(
        recipe.sampler, "target.training.sampler" if "name" not in recipe.sampler else "sampler"
    )
    if not isinstance(kernel, Kernel):
        raise UserError(f"{recipe.sampler.get('_target_')} is no samplers.kernel.Kernel.")
    return kernel
