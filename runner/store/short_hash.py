"""A short hash of a configuration: equal for equal meaning, whatever module a built-in class is in.

Where it names code of the user's own, what that code says is a part of its meaning.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from runner.integrity.own_code import code_digest
from runner.integrity.source import FLOORS

SCHEMA = 2
"""Raised when the meaning of a result or of an id changes, so that old and new runs are never confused."""

PARTS = ("target", "sampler", "task", "metric")
"""The groups of the configuration that make a run; `seed`, device type and `dtype` join them."""


def canonical(value: Any) -> Any:
    """`value` with everything that means the same written the same: 1.0 as 1, tuples as lists.

    A built-in class, ``_target_: samplers.discrete.dmala.DMALA``, is written ``DMALA``: a class that moves
    keeps its runs. A class or function of the user's own keeps its path, with a digest of its code beside it.
    Falsy values stay: seed 0 is a seed, False is not absent.
    """
    if isinstance(value, Mapping):
        return {
            str(key): _class_name(item) if key == "_target_" else canonical(item)
            for key, item in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    code = _code_of(value)
    return value if code is None else f"{value} {code}"


def _class_name(path: Any) -> Any:
    if isinstance(path, str) and path.split(".", 1)[0] in FLOORS:
        return path.rsplit(".", 1)[-1]
    return canonical(path)


def _code_of(value: Any) -> str | None:
    """The digest of the user's code that `value` names by its dotted path; None where it names none."""
    dotted = isinstance(value, str) and "." in value and all(part.isidentifier() for part in value.split("."))
    return code_digest(value) if dotted else None


def own_code(value: Any) -> str | None:
    """A short digest of all code of the user's own that a configuration's node names; None for none."""
    found = sorted({*named_code(value).values()})
    return hashlib.sha256(" ".join(found).encode()).hexdigest()[:8] if found else None


def named_code(value: Any) -> dict[str, str]:
    """The classes and functions of the user's own that a configuration's node names, with their digests."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return {path: code for each in value for path, code in named_code(each).items()}
    code = _code_of(value)
    return {} if code is None else {value: code}


def short_hash(content: Mapping[str, Any]) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the canonical JSON of `content`."""
    text = json.dumps(canonical(content), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
