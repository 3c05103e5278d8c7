"""Checkpoint files: everything that unfinished work needs to end as if it had never stopped."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from runner.execution.atomic_files import write_bytes

FORMAT = 1


class UnusableCheckpointError(Exception):
    """A checkpoint that cannot be used; its message goes on from "it", as in "is truncated"."""


def save_checkpoint(path: Path, content: Mapping[str, Any]) -> None:
    """Writes `content` (tensors, numbers, strings, lists, dictionaries) in place of the checkpoint at `path`.

    Raises:
        runner.execution.atomic_files.DiskFullError: if there is no room; the former checkpoint is then still
            there.
    """
    buffer = io.BytesIO()
    torch.save({"format": FORMAT, **content}, buffer)
    write_bytes(path, buffer.getbuffer())


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The content of the checkpoint at `path`, on the CPU, where torch wants the states of generators.

    Raises:
        UnusableCheckpointError: if it cannot be read.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise UnusableCheckpointError("is truncated or no checkpoint file") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UnusableCheckpointError("has another format")
    return content


def to_plain(value: Any) -> Any:
    """`value` with every dataclass written as a dictionary of its fields, at any depth."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    return value


def from_plain(template: Any, plain: Any) -> Any:
    """The inverse of `to_plain`: `plain` in the shape of `template`, on its devices.

    Raises:
        UnusableCheckpointError: if it does not have that shape.
    """
    if is_dataclass(template) and not isinstance(template, type):
        names = {field.name for field in fields(template)}
        if not isinstance(plain, Mapping) or set(plain) != names:
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
