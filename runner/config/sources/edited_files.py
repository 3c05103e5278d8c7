"""What was read of configurations is kept for the length of a command, since files may be edited after it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

Given = ParamSpec("Given")
Result = TypeVar("Result")

_emptied: list[Callable[[], None]] = []


def until_edited(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """`functools.cache` for what the files of configurations decide, emptied by `forget_files`."""
    cached = functools.cache(function)
    _emptied.append(cached.cache_clear)
    return cast(Callable[Given, Result], cached)


def forget_files() -> None:
    """Has all files of configurations read anew.

    For whatever begins something new in a process that may have composed before, such as a notebook's.
    """
    for empty in _emptied:
        empty()
