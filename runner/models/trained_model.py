"""A trained model on disk: trained by this project, or in a file that the user named."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from runner.config.construct import locate
from runner.execution.errors import UserError, one_sentence
from runner.files.atomic_files import read_json
from runner.files.compute_once import discard_damaged
from runner.files.tensor_files import UnreadableTensorsError, read_tensors
from runner.integrity.source import mixture
from runner.models.identity import model_file
from runner.models.model_files import load_model
from targets import Dataset, Target

SAMPLES_FILE = "samples.safetensors"
"""States of the chains of the training, beside the model."""


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
            raise UserError(
                f"The model {self.path} was trained on other images than the data set {data.name} holds now; "
                "use another output_root, or the former data.root."
            )

    @property
    def notes(self) -> list[str]:
        """Footnotes to numbers that are measured on it."""
        note = self.metadata.get("note")
        return [*([str(note)] if note else []), *mixture(self.metadata.get("sources") or [])]


def load_trained(folder: Path, *, locked: bool = False) -> TrainedModel | None:
    """The model in `folder` with the report of its training; see `runner.files.compute_once.Reader`."""
    path, beside = folder / "model.safetensors", (folder / "model.json", folder / SAMPLES_FILE)
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
        why = why if isinstance(error, UserError) else f"{SAMPLES_FILE} beside it {why}"
        discard_damaged(path, why, *beside, locked=locked)
        return None
    return TrainedModel(target, path, {**metadata, **report})


def load_named(config: DictConfig) -> TrainedModel:
    """The model in the file at `target.model`.

    Raises:
        UserError: if it is not there, cannot be read, or holds another architecture than the target's.
    """
    path = model_file(config.target.model, "target.model")
    target, metadata = load_model(path)
    if type(target) is not locate(config.target._target_, "target._target_"):
        raise UserError(
            f"target.model={config.target.model} must be a model of {config.target._target_}, "
            f"a {type(target).__name__} was given."
        )
    # A file of weights alone does not name its data set; the configuration does.
    own = {key: config.target.get(key) for key in ("dataset", "binarisation")}
    return TrainedModel(target, path, {**own, **metadata}, trained_here=False)
