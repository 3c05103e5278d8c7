"""A trained model on disk: one that was trained here, or a file that the user named."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from runner.config.construct import locate
from runner.execution.atomic_files import read_json
from runner.execution.compute_once import discard_damaged
from runner.execution.errors import UserError, one_sentence
from runner.models.identity import model_file
from runner.models.model_files import load_model
from targets.datasets.dataset import Dataset
from targets.target import Target


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


def kept_in(folder: Path, *, locked: bool = False) -> KeptModel | None:
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
        discard_damaged(path, one_sentence(error).rstrip("."), locked=locked)
        return None
    return KeptModel(target, path, {**metadata, **report})


def named_by(config: DictConfig) -> KeptModel:
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
    # Weights alone do not say what they learned; the configuration does.
    own = {key: config.target.get(key) for key in ("dataset", "binarisation")}
    return KeptModel(target, path, {**own, **metadata}, trained_here=False)
