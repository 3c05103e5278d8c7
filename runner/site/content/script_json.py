"""Data inside scripts: pages that are opened as files can load no JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

PLAIN = frozenset({str, int, bool, type(None)})
"""Types whose values are written as they are."""


def script_json(content: Any) -> Markup:
    """`content` as JSON inside a script element; numbers that are not finite are null.

    Numbers have 12 digits, as many as differences of large ones need, such as energies; with all 17 the files
    would be larger than they need be.
    """
    text = json.dumps(_finite(content), separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c"))


def _finite(content: Any) -> Any:
    # By type first: a report has a million values, and to ask whether one is a Mapping takes longest.
    if (kind := type(content)) in PLAIN:
        return content
    if kind is float:
        return float(f"{content:.12g}") if content - content == 0.0 else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(each) for each in content]
    if isinstance(content, float):
        return _finite(float(content))
    return content.item() if hasattr(content, "item") else content
