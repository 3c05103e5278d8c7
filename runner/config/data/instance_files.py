"""The identity of a problem from a file, of a tour, a graph or a text: the content of it, not its path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.config.data.datasets import file_digest
from runner.config.kinds import PROJECT
from runner.execution.errors import UserError, one_sentence
from targets.datasets.files.user_paths import file_is_there, user_path
from targets.graphs.model_keys import unread_keys

GRAPH, FORMAT = "graph", "file_format"
"""Keys of problems on graphs: the random graph, and the format of the file that replaces it."""

UNREAD = ("cities", "instance_seed", GRAPH)
"""Keys of random instances, which a file replaces."""

FILE, ROOT = "file", "root"
"""Keys of a target that may be read from a file, and of the folder of all data sets."""

TEXT = "text"
"""Key of a target's text file; null is a text of the project's own."""


def instance_identity(target: Mapping[str, Any]) -> dict[str, Any]:
    """The node of a target with digests of its file, of the tour beside it, and of its text, not their paths.

    A graph's file keeps its name: it says the format, and which best objective has been published. What the
    model of a random graph does not read is at its default.

    Raises:
        UserError: if the file is not there.
    """
    digests = file_digests(target)
    if not _may_name_a_file(target):
        return {**target, **digests}
    rest = {key: value for key, value in target.items() if key != ROOT}
    if FILE not in digests:
        return {**rest, **digests, **_with_defaults(target)}
    own = {key: value for key, value in rest.items() if key not in UNREAD}
    if _is_graph(target):
        return {**own, **digests, "instance": file_name(target[FILE])}
    return {**own, "tour": None, **digests}


def as_read(target: dict[str, Any]) -> dict[str, Any]:
    """The node of a target without the keys of a random instance that it does not read.

    `why_instance_unread` says why. A class of the user's own may read them all.
    """
    if not _is_ours(target):
        return target
    if target[FILE] is not None:
        return {key: value for key, value in target.items() if key not in UNREAD}
    if not isinstance(graph := target.get(GRAPH), Mapping):
        return target
    left_out = unread_keys(graph.get("model"))
    return {**target, GRAPH: {key: value for key, value in graph.items() if key not in left_out}}


def why_instance_unread(target: Mapping[str, Any]) -> str:
    """Why `as_read` leaves keys out of the node of a target, after the words "must be left out, since"."""
    if target[FILE] is not None:
        return f"target.file={target[FILE]} replaces the random instance"
    return f"target.graph.model={target[GRAPH]['model']} does not read it"


def _is_ours(target: Mapping[str, Any]) -> bool:
    return _may_name_a_file(target) and str(target.get("_target_")).startswith(PROJECT)


def _is_graph(target: Mapping[str, Any]) -> bool:
    return GRAPH in target or FORMAT in target


def _with_defaults(target: Mapping[str, Any]) -> dict[str, Any]:
    """The random graph with the defaults of what its model does not read, by its key."""
    if not _is_ours(target) or not isinstance(graph := target.get(GRAPH), Mapping):
        return {}
    defaults = unread_keys(graph.get("model"))
    return {GRAPH: {key: defaults.get(key, value) for key, value in graph.items()}}


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

    is_graph = _is_graph(target)
    try:
        path = (graph_files.find_graph if is_graph else find_instance)(str(target[FILE]), target[ROOT])
    except DataError as error:
        raise UserError(f"target.{one_sentence(error)}.") from error
    found = {FILE: file_digest(path)}
    beside = tour_beside(path)
    return found | ({"tour": file_digest(beside)} if not is_graph and beside.is_file() else {})
