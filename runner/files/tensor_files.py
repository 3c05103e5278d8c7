"""Named tensors and texts in a ``.safetensors`` file that holds a digest of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from runner.execution.errors import reason
from runner.execution.storage_errors import reading_refused
from runner.files.atomic_files import write_bytes
from runner.integrity.file_digest import BLANK, KEY, FileState, file_state, with_own_digest

LENGTH = 8
"""Bytes of the length of the header, which is a multiple of it."""


class UnreadableTensorsError(Exception):
    """A file of tensors that cannot be used; its message goes on from "it", as in "is truncated"."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor], texts: Mapping[str, str]) -> None:
    """Writes `tensors` and `texts` in place of whatever `path` holds; the same ones give the same bytes.

    Raises:
        runner.execution.storage_errors.StorageError: if the disk refuses; what was there before stays.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_bytes(path, with_own_digest(_in_order(save(plain, {**texts, KEY: BLANK}))))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors, on the CPU, and the texts in `path`; a file without a digest is read as it is.

    Raises:
        UnreadableTensorsError: if it is not what was written, or no such file.
        runner.execution.storage_errors.StorageError: if it cannot be read now.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        if (refused := reading_refused(error, path, ours=True)) is not None:
            raise refused from error
        raise UnreadableTensorsError(f"cannot be read: {reason(error)}") from error
    if file_state(content) is FileState.DAMAGED:
        raise UnreadableTensorsError("is damaged: its content is not what was written")
    try:
        tensors = load(content)
        texts = _header(content).get("__metadata__", {})
    except (SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise UnreadableTensorsError("is truncated or no safetensors file") from error
    return tensors, {name: text for name, text in texts.items() if name != KEY}


def _header(content: bytes) -> dict[str, Any]:
    """The JSON at the beginning of a file, before which its length is."""
    header: dict[str, Any] = json.loads(content[LENGTH : LENGTH + int.from_bytes(content[:LENGTH], "little")])
    return header


def _in_order(content: bytes) -> bytes:
    """The same file with its texts in alphabetical order: safetensors has another one each time."""
    header = json.dumps(_header(content), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % LENGTH)
    start = LENGTH + int.from_bytes(content[:LENGTH], "little")
    return len(header).to_bytes(LENGTH, "little") + header + content[start:]
