"""Data sets by name, as `conf/dataset` describes them, or from a user's own file."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from omegaconf import DictConfig

import conf
from runner.config.data.known_files import added_identity, full_note, only_known, verifies
from runner.execution.errors import UserError, listed, not_allowed, one_sentence, reason
from targets.datasets.files.user_paths import user_path

if TYPE_CHECKING:
    from targets.datasets.dataset import Dataset

BINARISATIONS = ("threshold", "stochastic", "dynamic", "binary")

IDENTIFYING = ("name", "binarisation", "threshold", "seed", "validation", "shuffle", "sha256")
"""Keys that decide which images a data set holds; the paths and the notes do not."""

NOT_LOADED = ("_target_", "name", "sha256", "sha256_of")
"""Keys of a description that are no argument of its loader."""

READ_BY = {"threshold": ("threshold",), "seed": ("stochastic", "dynamic")}
"""The binarisations that read a key of `IDENTIFYING`; all read the others."""


def is_file(name: Any) -> bool:
    """Whether `name` is the path of a user's own data set, not one of the names of data sets."""
    return str(name).endswith(".npz")


def dataset_identity(name: Any, binarisation: Any = None, key: str = "target.dataset") -> dict[str, Any]:
    """The part of `described` that enters the identity of models and runs."""
    spec = dataset_settings(name, binarisation, key)
    return {
        part: spec[part]
        for part in IDENTIFYING
        if part in spec and spec["binarisation"] in READ_BY.get(part, BINARISATIONS)
    }


def dataset_settings(name: Any, binarisation: Any = None, key: str = "target.dataset") -> dict[str, Any]:
    """What makes the data set `name`: the node of `conf/dataset`, or the content of a ``.npz`` file.

    Args:
        key: what the user set to it, for messages.

    Raises:
        UserError: for a name or a binarisation that does not exist, or a file that is not there.
    """
    if binarisation is not None and binarisation not in BINARISATIONS:
        allowed = f"target.binarisation must be null or one of {listed(BINARISATIONS)}"
        raise not_allowed(allowed, binarisation, BINARISATIONS)
    if is_file(name):
        spec = {
            "_target_": "targets.datasets.npz.load_npz",
            "binarisation": "binary",
            "threshold": 0.5,
            "seed": 0,
            "sha256": file_digest(str(name)),
        }
    else:
        spec = dict(option("dataset", str(name), f"{key} must be a file.npz or one of"))
    return spec | ({"binarisation": binarisation} if binarisation is not None else {})


def load_dataset(name: Any, binarisation: Any, root: Any, verify: bool = True) -> Dataset:
    """The data set `name`, checked; the last few that a process has loaded stay in memory.

    Args:
        verify: whether files that are not known are refused.

    Raises:
        UserError: if it is missing and cannot be fetched, damaged, of the wrong form, or not known.
    """
    content = file_digest(str(name)) if is_file(name) else None
    return _load(str(name), binarisation, None if root is None else str(root), content, verify)


def unknown_files(config: DictConfig, name: Any, key: str = "target.dataset") -> dict[str, Any]:
    """What the files of the data set `name` add to an identity, where the name does not tell which are read.

    Raises:
        UserError: if there is no such set, its files are damaged, or they are not there with
            `data.verify=false`.
    """
    spec = dataset_settings(name, None, key)
    return added_identity(str(name), spec, config.data.root, verify=verifies(config))


@functools.lru_cache(maxsize=4)
def _load(
    name: str, binarisation: str | None, root: str | None, content: str | None, verify: bool
) -> Dataset:
    """The data set; `content` is the digest of a user's file, which may change."""
    from runner.config.construct import locate
    from targets.datasets.dataset import DataError

    spec = dataset_settings(name, binarisation)
    arguments = {key: value for key, value in spec.items() if key not in NOT_LOADED}
    if is_file(name):
        arguments["path"] = name
    load = locate(spec["_target_"], f"conf/dataset/{name}._target_")
    with only_known(name, spec, root, verify):
        try:
            found: Dataset = load(root=root, **arguments)
        except DataError as error:
            raise UserError(one_sentence(error)) from error
    return replace(found, note=full_note(found.note, spec, root))


@functools.cache
def option(group: str, name: str, must_be: str) -> Mapping[str, Any]:
    """The content of ``conf/GROUP/NAME.yaml``.

    Raises:
        UserError: if there is no such file; `must_be` is how the sentence begins that lists those that are.
    """
    folder = Path(conf.__path__[0]) / group
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in known:
        raise not_allowed(f"{must_be} {listed(known)}", name, known)
    content = yaml.safe_load((folder / f"{name}.yaml").read_text())
    assert isinstance(content, dict)
    return content


def file_digest(path: str | Path) -> str:
    """First 16 hexadecimal digits of the SHA-256 of a file; ``~`` is the user's home.

    Raises:
        UserError: if it cannot be read.
    """
    try:
        place = user_path(path)
        status = place.stat()
        return _file_digest(str(place), status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise UserError(f"'{path}' cannot be read: {reason(error)}.") from error


@functools.cache
def _file_digest(path: str, changed: int, size: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
