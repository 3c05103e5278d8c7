"""The identity of a problem from a file, a tour's or a graph's: the content of the file, not its path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.config.data.datasets import file_digest
from runner.execution.errors import UserError, one_sentence

UNREAD = ("cities", "instance_seed", "graph")
"""Keys of random instances, which a file replaces."""


def names_a_file(target: Mapping[str, Any]) -> bool:
    """Whether a target's node is one that may name the file of a problem."""
    return "file" in target and "root" in target


def instance_identity(target: Mapping[str, Any]) -> dict[str, Any]:
    """The node of a target with digests of its file, and of the tour beside it, instead of their paths.

    A graph's file keeps its name: it says the format, and which best objective has been published.

    Raises:
        UserError: if the file is not there.
    """
    rest = {key: value for key, value in target.items() if key != "root"}
    if target["file"] is None:
        return rest
    from targets.datasets.dataset import DataError
    from targets.graphs.files import graph_files
    from targets.tours.tsplib import find_instance, tour_beside

    is_graph, given = "graph" in target, str(target["file"])
    try:
        path = (graph_files.find_graph if is_graph else find_instance)(given, target["root"])
    except DataError as error:
        raise UserError(f"target.{one_sentence(error)}.") from error
    own = {key: value for key, value in rest.items() if key not in UNREAD}
    if is_graph:
        return {**own, "file": file_digest(path), "instance": Path(given).name}
    beside = tour_beside(path)
    tour = file_digest(beside) if beside.is_file() else None
    return {**own, "file": file_digest(path), "tour": tour}
