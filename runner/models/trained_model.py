"""A trained model on disk: trained by this project, or in a file that the user named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from runner.config.data.datasets import is_file, load_dataset
from runner.config.data.known_files import verifies
from runner.execution.errors import UserError, one_sentence
from runner.files.atomic_files import read_json
from runner.files.compute_once import discard_damaged
from runner.files.tensor_files import UnreadableTensorsError, read_tensors
from runner.integrity.source import mixture
from runner.models.identity import MODEL_FILE, model_file
from runner.models.model_files import load_model
from runner.models.named_model import check_architecture, images_learned
from targets import Dataset, Target

SAMPLES_FILE = "samples.safetensors"
"""States of the chains of the training, beside the model."""

SHAPE = "shape"
"""Height and width of an image: attribute of a network of convolutions, and what a model's file says."""


@dataclass(frozen=True)
class TrainedModel:
    """A trained model on disk.

    Attributes:
        target: the model, on the CPU.
        path: its file.
        metadata: data set, its note, recipe, and for a model trained here the report of the training.
        trained_here: whether it lies in the output root; else the user named its file.
    """

    target: Target
    path: Path
    metadata: dict[str, Any]
    trained_here: bool = True

    def check_data(self, data: Dataset) -> None:
        """Refuses a data set that is not the one that the model was trained on, though its name is the same.

        Raises:
            UserError: saying how to have both.
        """
        if self.metadata.get("data_fingerprint") not in (None, data.fingerprint()):
            told = "; use another output_root, or the former data.root" if self.trained_here else ""
            raise UserError(
                f"The model {self.path} was trained on other images than the data set {data.name} "
                f"holds now{told}."
            )

    @property
    def image_shape(self) -> tuple[int, int] | None:
        """Height and width of the images that it learned; None where its file does not say."""
        match self.metadata.get(SHAPE):
            case [int(height), int(width)]:
                return height, width
        return None

    @property
    def notes(self) -> list[str]:
        """Footnotes to numbers that are measured on it."""
        note = self.metadata.get("note")
        return [*([str(note)] if note else []), *mixture(self.metadata.get("sources") or [])]


def load_trained(folder: Path, *, locked: bool = False) -> TrainedModel | None:
    """The model in `folder` with the report of its training; see `runner.files.compute_once.Reader`."""
    path, beside = folder / MODEL_FILE, (folder / "model.json", folder / SAMPLES_FILE)
    report = read_json(beside[0])
    if not path.is_file():
        return None
    try:
        target, metadata = load_model(path)
        if report is None or "history" not in report:
            raise UserError(f"{beside[0]} is missing, damaged or no report of a training.")
        if beside[1].exists():  # older models have no samples beside them
            read_tensors(beside[1])
    except (UserError, UnreadableTensorsError) as error:
        why = one_sentence(error).rstrip(".")
        if isinstance(error, UserError):
            why = why.replace(f"The model file {path} ", "it ")  # the warning names the file
        else:
            why = f"{SAMPLES_FILE} beside it {why}"
        discard_damaged(path, why, *beside, locked=locked)
        return None
    return TrainedModel(target, path, {**metadata, **report})


def load_named(config: DictConfig) -> TrainedModel:
    """The model in the file at `target.model`.

    Raises:
        UserError: if it is not there, cannot be read, holds another architecture than the target's, or is of
            weights alone, which do not say how the pixels lie, and the target names images of another shape.
    """
    path = model_file(config.target.model, "target.model")
    target, metadata = load_model(path)
    check_architecture(config.target, type(target))
    guessed = hasattr(target, SHAPE) and SHAPE not in metadata
    metadata = {**metadata, **images_learned(config.target, metadata)}
    model = TrainedModel(target, path, metadata, trained_here=False)
    if guessed:
        _check_guessed_shape(model, config)
    return model


def _check_guessed_shape(model: TrainedModel, config: DictConfig) -> None:
    """Refuses weights that were taken for those of square images, where those of the target are others."""
    name = model.metadata.get("dataset")
    try:
        data = load_dataset(name, model.metadata.get("binarisation"), config.data.root, verifies(config))
    except UserError:
        return  # a trained model can be sampled without its data set
    if data.train.shape[1] == model.target.space.d:
        check_size(model.target, data, f"target.dataset={name}", model.path)


def data_learned(model: TrainedModel, config: DictConfig) -> Dataset:
    """The images that `model` learned, or those that the configuration names for a file of weights alone.

    Raises:
        UserError: if they cannot be had, are others by now, or do not fit the model.
    """
    name, binarisation = model.metadata.get("dataset"), model.metadata.get("binarisation")
    if name is None:
        raise UserError(f"The model {model.path} does not name its data set: give target.dataset=NAME.")
    with moved_images(model.path, name, "target.dataset"):
        data = load_dataset(name, binarisation, config.data.root, verifies(config))
    model.check_data(data)
    check_size(model.target, data, f"The data set {name}", model.path)
    return data


@contextmanager
def moved_images(path: Path, name: Any, key: str) -> Iterator[None]:
    """Says what `key` is for, where the file `name` that the model in `path` learned cannot be read."""
    try:
        yield
    except UserError as error:
        if not is_file(name):
            raise
        told = f"the model {path} learned these images; {key}=FILE.npz says where they are now."
        raise UserError(f"{one_sentence(error).rstrip('.')}: {told}") from error


def check_size(target: Target, data: Dataset, named: str, path: Path) -> None:
    """Refuses images of another size than those that the model in `path` is for.

    Args:
        named: what the message calls the data set.

    Raises:
        UserError: with both sizes.
    """
    pixels, units = data.train.shape[1], target.space.d
    if pixels != units:
        raise UserError(f"{named} has {pixels} pixels an image, the model {path} has {units} visible units.")
    # As many pixels in another shape are other neighbours to a network of convolutions.
    expected = getattr(target, SHAPE, data.shape)
    if tuple(expected) != tuple(data.shape):
        found, wanted = (" x ".join(map(str, shape)) for shape in (data.shape, expected))
        raise UserError(f"{named} has images of {found} pixels, the model {path} expects {wanted}.")
