"""What the file of a travelling-salesman instance contributes to an identity: its content, not its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.config.datasets import file_digest
from runner.execution.errors import UserError, one_sentence

UNREAD = ("cities", "instance_seed")
"""Keys of the random instance, which a file stands in place of."""


def names_a_file(target: Mapping[str, Any]) -> bool:
    """Whether a target's node is one that may name a TSPLIB file."""
    return "file" in target and "root" in target


def identifying(target: Mapping[str, Any]) -> dict[str, Any]:
    """The node of a target with digests of its file, and of the tour beside it, in place of where they lie.

    Raises:
        UserError: if the file is not there.
    """
    kept = {key: value for key, value in target.items() if key != "root"}
    if target["file"] is None:
        return kept
    from targets.datasets.dataset import DataError
    from targets.tours.tsplib import find, tour_beside

    try:
        path = find(str(target["file"]), target["root"])
    except DataError as error:
        raise UserError(f"target.{one_sentence(error)}.") from error
    beside = tour_beside(path)
    tour = file_digest(beside) if beside.is_file() else None
    own = {key: value for key, value in kept.items() if key not in UNREAD}
    return {**own, "file": file_digest(path), "tour": tour}
