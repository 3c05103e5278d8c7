"""What a target is that names a learned model: the file decides what the configuration's own keys would."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.config.construct import locate
from runner.config.data.datasets import is_file
from runner.execution.errors import UserError
from runner.models.identity import arguments_of, class_of, metadata_of, model_file
from runner.models.training_settings import with_defaults
from targets.datasets.files.user_paths import file_is_there, user_path

if TYPE_CHECKING:
    from targets.target import Target

OWN = ("name", "_target_", "model", "ground_truth")
"""Keys of a learned target that a run with a named model reads."""

OF_IMAGES = ("n_visible", "shape")
"""Arguments of a model's constructor that its images decide; no configuration has them."""


def as_learned(target: dict[str, Any]) -> dict[str, Any]:
    """The node of a target as a run has it: with a named model, the size and the training are the file's.

    What the file does not say, as a file of weights alone does not say how it was trained, is left out. Other
    targets are returned as they are.

    Raises:
        UserError: if the file is not there, cannot be read, or holds another architecture than the target's.
    """
    if "training" not in target or target.get("model") is None:
        return target
    path = model_file(target["model"], "target.model")
    check_architecture(target, class_of(path))
    known = {key: target[key] for key in OWN if key in target} | _said_by(path, target)
    return {key: known[key] for key in target if key in known}


def target_in(path: Path) -> dict[str, Any]:
    """The node of the target in the file of a saved model, whatever target a configuration has.

    A user's own file of images that is no longer there is left out, as is what the file does not say.

    Raises:
        UserError: if it cannot be read.
    """
    from runner.models.architectures import architecture_name

    known = {key: value for key, value in _said_by(path, {}).items() if key not in OF_IMAGES}
    name = known["dataset"]
    if name is None or (is_file(name) and not file_is_there(user_path(name))):
        known = {key: value for key, value in known.items() if key not in ("dataset", "binarisation")}
    cls = class_of(path)
    name = architecture_name(cls).rsplit(".", 1)[-1]
    return {"name": name, "_target_": f"{cls.__module__}.{cls.__qualname__}", **known}


def _said_by(path: Path, target: Mapping[str, Any]) -> dict[str, Any]:
    """What the file of a model says in place of the node `target`: its size, its images, its training."""
    metadata = metadata_of(path)
    known = {**arguments_of(path), **images_learned(target, metadata)}
    recipe = metadata.get("recipe")
    if isinstance(recipe, Mapping) and isinstance(recipe.get("training"), Mapping):
        known["training"] = with_defaults(recipe["training"], target.get("training") or {})
        known["training"]["sampler"] = recipe.get("sampler")
        known["model_seed"] = recipe.get("seed")
    return known


def check_architecture(target: Mapping[str, Any], found: type[Target]) -> None:
    """Refuses a model of another class than the target's.

    Raises:
        UserError: naming both.
    """
    if found is not locate(target["_target_"], "target._target_"):
        raise UserError(
            f"target.model={target['model']} must be a model of {target['_target_']}, "
            f"a {found.__name__} was given."
        )


def images_learned(target: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The data set and the binarisation that a saved model learned.

    A file of weights alone does not name them; the target's node does. Of a user's own images the node says
    where they are now; their fingerprint is compared.
    """
    own = {key: target.get(key) for key in ("dataset", "binarisation")}
    found = {key: metadata.get(key, value) for key, value in own.items()}
    if is_file(own["dataset"]) and is_file(found["dataset"]):
        found["dataset"] = own["dataset"]
    return found
