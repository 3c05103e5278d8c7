"""Digests of the files that a run is computed from, which are written with it.

Two files of one name are two problems: by these digests tables keep their runs apart, as ids do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omegaconf import DictConfig

from runner.config.data.datasets import dataset_identity, is_file
from runner.config.data.instance_files import file_digests
from runner.config.run_settings import UNKNOWN_DATA
from runner.models.identity import model_file, unknown_data, weights_of

DATASET = "dataset"
"""Key of a target that names a data set, or a user's own file."""


MODEL = "model"
"""Key of a learned target, and of a task that evaluates a model, that names a saved one."""


def data_contents(config: DictConfig, target: Mapping[str, Any]) -> dict[str, str]:
    """By key of `target`, a resolved node of the one in `config`: digests of its files; also by others.

    Those of a data set that `conf` describes stand at `UNKNOWN_DATA` in one text; known files of the first
    place have none. A model has that of its weights, and a user's own file of a task's data set stands at its
    whole key.

    Raises:
        UserError: if a file is not there or cannot be read, or one of a data set is damaged.
    """
    found = file_digests(target)
    named = target.get(MODEL) if "training" in config.target else None
    if (model := named or config.get(MODEL)) is not None:
        found[MODEL] = str(weights_of(model_file(model))["weights"])
    if (measured := config.task.get(DATASET)) is not None and is_file(measured):
        found[f"task.{DATASET}"] = str(dataset_identity(measured)["sha256"])
    if (name := target.get(DATASET)) is not None and is_file(name):
        return found | {DATASET: str(dataset_identity(name)["sha256"])}
    unknown = unknown_data(config).get("files", {})
    return found | ({UNKNOWN_DATA: ", ".join(unknown[path] for path in sorted(unknown))} if unknown else {})
