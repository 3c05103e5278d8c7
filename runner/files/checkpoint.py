"""Checkpoint files: everything that unfinished work needs to end as if it had never stopped.

A file is one line, which holds the digest of the file and the source code that the work was done with, and
what ``torch.save`` writes. ``torch.load`` itself reads flipped bits without a word.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from runner.execution.memory.memory_errors import is_of_memory
from runner.execution.storage_errors import ABSENT, StorageError, reading_refused
from runner.files.atomic_files import write_bytes
from runner.integrity.file_digest import BLANK, KEY, FileState, file_state, with_own_digest

FORMAT = 1
LONGEST_LINE = 2**16


class UnusableCheckpointError(Exception):
    """A checkpoint that cannot be used; its message goes on from "it", as in "is truncated"."""


def save_checkpoint(
    path: Path, content: Mapping[str, Any], sources: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Writes `content` (tensors, numbers, strings, lists, dictionaries) in place of the checkpoint at `path`.

    Args:
        sources: the source code that the work was done with (`runner.execution.manifest.source`).

    Raises:
        runner.execution.storage_errors.StorageError: if the disk refuses; the former checkpoint is then still
            there.
    """
    buffer = io.BytesIO()
    torch.save({"format": FORMAT, **content}, buffer)
    line = json.dumps({KEY: BLANK, "sources": list(sources)})
    write_bytes(path, with_own_digest(line.encode() + b"\n" + buffer.getvalue()))


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The content of the checkpoint at `path`, on the CPU, where torch wants the states of generators.

    Raises:
        UnusableCheckpointError: if it is not there, or is not what was written.
        runner.execution.storage_errors.StorageError: if it cannot be read now.
        MemoryError, RuntimeError: if there is no memory for it (`of_the_moment`).
    """
    try:
        archive = path.read_bytes()
        if file_state(archive) is FileState.DAMAGED:
            raise UnusableCheckpointError("is damaged: its content is not what was written")
        content = torch.load(io.BytesIO(archive.split(b"\n", 1)[1]), map_location="cpu", weights_only=True)
    except UnusableCheckpointError:
        raise
    except Exception as error:
        # What the disk or the memory does not give today is no reason to start from the beginning.
        if (refused := reading_refused(error, path, ours=True)) is not None:
            raise refused from error
        if of_the_moment(error):
            raise
        raise UnusableCheckpointError("is truncated or no checkpoint file") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UnusableCheckpointError("has another format")
    return content


def of_the_moment(error: BaseException) -> bool:
    """Whether the disk or the memory refuses now, which says nothing of what is read or restored."""
    if isinstance(error, OSError):
        return not isinstance(error, ABSENT)
    return isinstance(error, StorageError) or is_of_memory(error)


def checkpoint_sources(path: Path) -> list[dict[str, Any]]:
    """The source code that the work in a checkpoint was done with; empty where there is no checkpoint."""
    try:
        with path.open("rb") as file:
            return [dict(source) for source in json.loads(file.readline(LONGEST_LINE))["sources"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def to_plain(value: Any) -> Any:
    """`value` with every dataclass written as a dictionary of its fields, at any depth.

    A field whose metadata have ``saved=False`` is left out: it holds true in one process alone.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {name: to_plain(getattr(value, name)) for name in _saved(value)}
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, Tensor) and value.untyped_storage().nbytes() > value.nbytes:
        return value.clone()  # else all that lies beside it in memory is written, too
    return value


def from_plain(template: Any, plain: Any) -> Any:
    """The inverse of `to_plain`: `plain` in the shape of `template`, on its devices.

    Raises:
        UnusableCheckpointError: if it does not have that shape.
    """
    if is_dataclass(template) and not isinstance(template, type):
        names = _saved(template)
        if not isinstance(plain, Mapping) or set(plain) != set(names):
            raise UnusableCheckpointError("holds the state of another kernel")
        return replace(template, **{n: from_plain(getattr(template, n), plain[n]) for n in names})
    if isinstance(template, Mapping):
        if not isinstance(plain, Mapping) or set(plain) != set(template):
            raise UnusableCheckpointError("holds the state of another kernel")
        return {name: from_plain(item, plain[name]) for name, item in template.items()}
    if isinstance(template, Tensor):
        fits = isinstance(plain, Tensor) and plain.shape == template.shape and plain.dtype == template.dtype
        if not fits:
            raise UnusableCheckpointError("holds states of another shape")
        return plain.to(template.device)
    return plain


def _saved(value: Any) -> list[str]:
    """The names of the fields of a dataclass that are written."""
    return [field.name for field in fields(value) if field.metadata.get("saved", True)]
