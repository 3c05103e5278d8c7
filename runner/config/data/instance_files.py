"""The identity of a problem from a file, of a tour, a graph or a text: the content of it, not its path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.config.data.datasets import file_digest
from runner.execution.errors import UserError, one_sentence
from targets.datasets.files.user_paths import file_is_there, user_path

UNREAD = ("cities", "instance_seed", "graph")
"""Keys of random instances, which a file replaces."""

FILE, ROOT = "file", "root"
"""Keys of a target that may be read from a file, and of the folder of all data sets."""

TEXT = "text"
"""Key of a target's text file; null is a text of the project's own."""


def instance_identity(target: Mapping[str, Any]) -> dict[str, Any]:
    """The node of a target with digests of its file, of the tour beside it, and of its text, not their paths.

    A graph's file keeps its name: it says the format, and which best objective has been published.

    Raises:
        UserError: if the file is not there.
    """
    digests = file_digests(target)
    if not _may_name_a_file(target):
        return {**target, **digests}
    rest = {key: value for key, value in target.items() if key != ROOT}
    if FILE not in digests:
        return {**rest, **digests}
    own = {key: value for key, value in rest.items() if key not in UNREAD}
    if "graph" in target:
        return {**own, **digests, "instance": file_name(target[FILE])}
    return {**own, "tour": None, **digests}


def without_places(target: Mapping[str, Any], contents: Mapping[str, Any]) -> dict[str, Any]:
    """The node of a target without what says where its files lie: files by their names, and no `ROOT`.

    Args:
        contents: digests of its files by key; a file that has none keeps its path.
    """
    found = {key: value for key, value in target.items() if key != ROOT or not _may_name_a_file(target)}
    return found | {key: file_name(target[key]) for key in (FILE, TEXT) if key in target and key in contents}


def file_name(path: Any) -> str:
    """What a file is called, in whatever folder it lies."""
    return Path(str(path)).name


def file_digests(target: Mapping[str, Any]) -> dict[str, str]:
    """Digests of the files of a target's node: of ``file``, of the ``tour`` beside it and of ``text``.

    Only those that the node names; a text that is not there is refused where it is read.

    Raises:
        UserError: if the file is not there.
    """
    found = _instance_digests(target) if _may_name_a_file(target) and target[FILE] is not None else {}
    text = user_path(str(target.get(TEXT)))
    return found | ({TEXT: file_digest(text)} if target.get(TEXT) is not None and file_is_there(text) else {})


def _may_name_a_file(target: Mapping[str, Any]) -> bool:
    return FILE in target and ROOT in target


def _instance_digests(target: Mapping[str, Any]) -> dict[str, str]:
    from targets.datasets.dataset import DataError
    from targets.graphs.files import graph_files
    from targets.tours.tsplib import find_instance, tour_beside

    is_graph = "graph" in target
    try:
        path = (graph_files.find_graph if is_graph else find_instance)(str(target[FILE]), target[ROOT])
    except DataError as error:
        raise UserError(f"target.{one_sentence(error)}.") from error
    found = {FILE: file_digest(path)}
    beside = tour_beside(path)
    return found | ({"tour": file_digest(beside)} if not is_graph and beside.is_file() else {})
