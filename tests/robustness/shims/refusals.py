"""A disk that refuses to write, by a shim on the calls that change files."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def refuse_writes(root: Path, number: int, *, after: int, patch: Callable[..., object] = setattr) -> None:
    """Lets every call that changes something below `root` fail with this error, after so many that do not.

    Args:
        number: such as ``errno.EROFS``.
        patch: sets an attribute; `pytest.MonkeyPatch.setattr` where it is to be undone.
    """
    below, calls = os.path.abspath(root), [0]

    def check(path: Any) -> None:
        if isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(below):
            calls[0] += 1
            if calls[0] > after:
                raise OSError(number, os.strerror(number), os.fspath(path))

    def wrapped(function: Callable[..., Any], changes: Callable[..., bool]) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, **options: Any) -> Any:
            if changes(*arguments, **options):
                check(path)
            return function(path, *arguments, **options)

        return call

    def writes(mode: str = "r", *_: Any, **__: Any) -> bool:
        return any(letter in mode for letter in "wax+")

    def creates(flags: int = 0, *_: Any, **__: Any) -> bool:
        return bool(flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR))

    opened = wrapped(io.open, writes)
    for module in (io, builtins):
        patch(module, "open", opened)
    patch(os, "open", wrapped(os.open, creates))
    for name in ("mkdir", "rename", "replace", "unlink", "rmdir"):
        patch(os, name, wrapped(getattr(os, name), lambda *_, **__: True))
