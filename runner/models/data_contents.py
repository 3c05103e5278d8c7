"""Digests of the files that a target is read from, which are written with its runs.

Two files of one name are two problems: by these digests tables keep their runs apart, as ids do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omegaconf import DictConfig

from runner.config.data.datasets import dataset_identity, is_file
from runner.config.data.instance_files import file_digests
from runner.config.run_settings import UNKNOWN_DATA
from runner.models.identity import unknown_data

DATASET = "dataset"
"""Key of a target that names a data set, or a user's own file."""


def data_contents(config: DictConfig, target: Mapping[str, Any]) -> dict[str, str]:
    """By key of `target`, a resolved node of the one in `config`: digests of its files.

    Those of a data set that `conf` describes stand at `UNKNOWN_DATA` in one text; files that are known have
    none.

    Raises:
        UserError: if a file is not there, or `data.verify=false` and one is damaged.
    """
    found = file_digests(target)
    if (name := target.get(DATASET)) is not None and is_file(name):
        return found | {DATASET: str(dataset_identity(name)["sha256"])}
    unknown = unknown_data(config).get("files", {})
    return found | ({UNKNOWN_DATA: ", ".join(unknown[path] for path in sorted(unknown))} if unknown else {})
