"""Overrides of one job as they are read: by their values, not by how these are written."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from runner.config.compose import parsed_override
from runner.execution.errors import UserError
from runner.execution.override_values import quoted


@functools.lru_cache(maxsize=4096)
def meaning(line: str) -> str:
    """The override `line` with its value as it is read: the same for 0.4 and 0.40, and for 1 and 1.0."""
    key, value = read(line)
    return f"{key}={_as_float(value)!r}"


def read(line: str) -> tuple[str, Any]:
    """The key of the override `line`, with its sign, and its value."""
    return line.partition("=")[0], parsed_override(line).value()


def written(value: Any) -> str:
    """A value of an experiment's YAML as it is written in an override.

    Text is unchanged, unless it would be read as several values or could not be read: then it is in quotes.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(written, value))}]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    return text if _is_one_value(text) else quoted(text)


def _is_one_value(text: str) -> bool:
    try:
        return not parsed_override(f"key={text}").is_sweep_override()
    except UserError:
        return False


def _as_float(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_float(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list):
        return [_as_float(each) for each in value]
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53
    return float(value) if whole else value
