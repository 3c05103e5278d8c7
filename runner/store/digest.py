"""A short hash of a configuration: equal for equal meaning, whatever module a built-in class is in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

SCHEMA = 2
"""Raised when the meaning of a result or of an id changes, so that old and new runs are never confused."""

PARTS = ("target", "sampler", "task", "metric")
"""The groups of the configuration that make a run; `seed`, device type and `dtype` join them."""

BUILT_IN = ("targets", "samplers", "metrics", "runner")
"""The packages whose classes enter an identity by their name alone: a class that moves keeps its runs."""


def canonical(value: Any) -> Any:
    """`value` with everything that means the same written the same: 1.0 as 1, tuples as lists.

    A built-in class, ``_target_: samplers.discrete.dmala.DMALA``, is written ``DMALA``; a class of the user's
    own keeps its path. Falsy values stay: seed 0 is a seed, False is not absent.
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
    return value


def _class_name(path: Any) -> Any:
    if isinstance(path, str) and path.split(".", 1)[0] in BUILT_IN:
        return path.rsplit(".", 1)[-1]
    return path


def digest(content: Mapping[str, Any]) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the canonical JSON of `content`."""
    text = json.dumps(canonical(content), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
