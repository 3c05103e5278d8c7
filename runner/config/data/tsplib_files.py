"""The identity of a travelling-salesman instance from a file: its content, not its path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.config.data.datasets import file_digest
from runner.execution.errors import UserError, one_sentence

UNREAD = ("cities", "instance_seed")
"""Keys of the random instance, which a file replaces."""


def names_a_file(target: Mapping[str, Any]) -> bool:
    """Whether a target's node is one that may name a TSPLIB file."""
    return "file" in target and "root" in target


def tour_identity(target: Mapping[str, Any]) -> dict[str, Any]:
    """The node of a target with digests of its file, and of the tour beside it, instead of their paths.

    Raises:
        UserError: if the file is not there.
    """
    rest = {key: value for key, value in target.items() if key != "root"}
    if target["file"] is None:
        return rest
    from targets.datasets.dataset import DataError
    from targets.tours.tsplib import find, tour_beside

    try:
        path = find(str(target["file"]), target["root"])
    except DataError as error:
        raise UserError(f"target.{one_sentence(error)}.") from error
    beside = tour_beside(path)
    tour = file_digest(beside) if beside.is_file() else None
    own = {key: value for key, value in rest.items() if key not in UNREAD}
    return {**own, "file": file_digest(path), "tour": tour}
