"""What a target, a saved model and a tuned sampler are, wherever their files lie."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from runner.catalogue.source import source_of
from runner.config.data.datasets import dataset_identity, file_digest, unknown_files
from runner.config.data.instance_files import instance_identity
from runner.config.data.known_files import verifies
from runner.config.data.tabular import unknown_rows
from runner.config.key_group import node
from runner.config.kinds import PROJECT
from runner.execution.errors import UserError
from runner.integrity.own_code import is_ours
from runner.store.short_hash import SCHEMA, short_hash
from targets.datasets.files.user_paths import file_is_there, folder_is_there, user_path

if TYPE_CHECKING:
    from targets.target import Target


def target_identity(target: dict[str, Any]) -> dict[str, Any]:
    """The node of a target as it enters an identity: files and data sets by their content.

    Raises:
        UserError: if a saved model or a data set that it names is not there.
    """
    if "training" in target:
        return _with_data(target)
    return instance_identity(target)


def learned_identity(target: dict[str, Any]) -> dict[str, Any]:
    """The node of a learned target without what a task reads that trains a model of its own."""
    return _with_data({key: target[key] for key in target if key not in NOT_LEARNED})


NOT_LEARNED = ("model", "model_seed", "training", "ground_truth")
"""Keys of a learned target that `task=learn` does not read: it has its own settings and seed."""


def _with_data(target: dict[str, Any]) -> dict[str, Any]:
    """A learned target with what its data set is, or with the content of its file in place of everything."""
    if target.get("model") is not None:
        own: dict[str, Any] = {
            key: target[key] for key in ("name", "_target_", "ground_truth") if key in target
        }
        model = weights_of(model_file(target["model"], "target.model"))
        dataset = dataset_identity(target.get("dataset"), target.get("binarisation"))
        return {**own, "model": model, "dataset": dataset}
    read = {key: value for key, value in target.items() if key != "binarisation"}
    return {**read, "dataset": dataset_identity(target.get("dataset"), target.get("binarisation"))}


def unknown_data(config: DictConfig) -> dict[str, Any]:
    """What files of the target's data that its name does not tell add to an identity: nothing by default.

    A saved model holds a digest of its images, whatever their files.

    Raises:
        UserError: if files are damaged, or `data.verify=false` and they are not there.
    """
    target = config.target
    if "training" in target:
        return unknown_files(config, target.get("dataset")) if target.get("model") is None else {}
    if verifies(config):
        return {}
    return unknown_rows(config, target.tabular) if "tabular" in target else {}


def weights_of(path: Path) -> dict[str, str | None]:
    """What a saved model is: a digest of its weights, and of the images that it learned from.

    Not of the file, in which the same model can be written in many ways.

    Raises:
        UserError: if it cannot be read.
    """
    return _described(path, file_digest(path))[0]


def model_identity(path: Path) -> dict[str, str | None]:
    """`weights_of` with the class where that is the user's own, as no target's node names it.

    Raises as `weights_of` does.
    """
    cls = class_of(path)
    own = {} if is_ours(cls) else {"_target_": f"{cls.__module__}.{cls.__qualname__}"}
    return {**own, **weights_of(path)}


def class_of(path: Path) -> type[Target]:
    """The class of a saved model; raises as `weights_of` does."""
    return _described(path, file_digest(path))[1]


def metadata_of(path: Path) -> dict[str, Any]:
    """What the file of a saved model says besides its weights; raises as `weights_of` does."""
    return _described(path, file_digest(path))[2]


def arguments_of(path: Path) -> dict[str, Any]:
    """The arguments of its constructor with which a saved model is built; raises as `weights_of` does."""
    return _described(path, file_digest(path))[3]


@functools.cache
def _described(
    path: Path, content: str
) -> tuple[dict[str, str | None], type[Target], dict[str, Any], dict[str, Any]]:
    """What the model in a file is, its class, its metadata, and the arguments that it is built with."""
    from runner.models.architectures import constructor_arguments
    from runner.models.model_files import load_model, model_digest

    model, metadata = load_model(path)
    weights = {"weights": model_digest(model), "data": metadata.get("data_fingerprint")}
    return weights, type(model), metadata, constructor_arguments(model)


MODEL_FILE = "model.safetensors"
"""A model that was trained here, in its folder."""


def model_file(given: Any, key: str = "model") -> Path:
    """The file of a saved model; of a folder, the `MODEL_FILE` in it.

    Raises:
        UserError: if nothing is given, or nothing is there.
    """
    if given is None:
        raise UserError(f"task=evaluate needs a saved model: {key}=PATH.")
    path = user_path(str(given))
    path = path / MODEL_FILE if folder_is_there(path) else path
    if not file_is_there(path):
        raise UserError(
            f"{key} must be a saved model or the folder of one, '{given}' was given, which is not there."
        )
    return path


TUNED = ("step_size", "radius", "min_step_size", "balancing", "ladder", "log_partition")
"""Keys of a sampler that a pilot finds where a word such as ``auto`` stands in a number's place."""

MOST_EFFORT = 100
PILOTS = 2
"""Raised when pilots of the same effort find other numbers; where few do, CHANGELOG.md says so instead."""


def tuning_effort(config: DictConfig) -> float:
    """How much a pilot may do, as a share of the full one.

    Raises:
        UserError: unless it is a number above 0.
    """
    given: Any = config.tuning.effort
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not number or not 0.0 < given <= MOST_EFFORT:
        raise UserError(
            f"tuning.effort must be a number above 0 and at most {MOST_EFFORT}, {given!r} was given."
        )
    return float(given)


def tuning_identity(config: DictConfig, *samplers: Any) -> dict[str, Any]:
    """What pilots add to an identity: nothing where none of the nodes `samplers` leaves a number to them."""
    if not any(map(leaves_open, samplers)):
        return {}
    return {"tuning": {"pilots": PILOTS, "effort": tuning_effort(config)}}


def leaves_open(sampler: Any) -> bool:
    """Whether the sampler that a node describes has hyperparameters that a pilot is to find."""
    if not isinstance(sampler, Mapping) or "_target_" not in sampler:
        return False
    if any(isinstance(sampler.get(name), str) for name in TUNED):
        return True
    return sampler.get("step_size") is None and _is_tunable(json.dumps(sampler, sort_keys=True, default=str))


@functools.cache
def _is_tunable(sampler: str) -> bool:
    """The same of a node in JSON, by its classes: a step size that none names may be open."""
    if not _names_open_setting(json.loads(sampler)):
        return False
    from runner.config.construct_sampler import construct_sampler
    from samplers.tuning.tunable import Tunable

    try:
        return isinstance(construct_sampler(json.loads(sampler), "sampler"), Tunable)
    except UserError:
        return False  # there will be no run of it


def _names_open_setting(described: Mapping[str, Any]) -> bool:
    """Whether a constructor in it may take one of `TUNED`; read in the source, as the classes need torch."""
    path = described.get("_target_")
    ours = isinstance(path, str) and path.startswith(PROJECT)
    if path is not None and not (ours and source_of(path).arguments.isdisjoint(TUNED)):
        return True
    return any(_names_open_setting(inside) for inside in described.values() if isinstance(inside, Mapping))


def tuning_id(config: DictConfig, device: str) -> str:
    """Identity of a tuned sampler: what can change its hyperparameters, and no more."""
    target, sampler = {**target_identity(node(config, "target"))}, node(config, "sampler")
    target.pop("ground_truth", None)
    content = {"schema": SCHEMA, "sampler": sampler, "device": device, "dtype": config.dtype}
    pilots = tuning_identity(config, sampler, training_sampler(target))
    return short_hash({**content, "target": target, **unknown_data(config), **pilots})


def training_sampler(target: Mapping[str, Any]) -> Any:
    """The node of the sampler that the model of a target's node learns with; None where none is named."""
    training = target.get("training")
    return training.get("sampler") if isinstance(training, Mapping) else None
