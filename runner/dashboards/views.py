"""What of a view of W&B is its content: a view that says the same is not saved again."""

from __future__ import annotations

import json
from typing import Any

GENERATED = frozenset({"__id__", "id", "authors", "ref", "key", "layout"})
"""What the client draws at random or does not read back, or the app fills in."""


def view_content(spec: str) -> Any:
    """The specification of a view, JSON, without what is drawn at random."""
    return _kept(json.loads(spec))


def _kept(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _kept(inner) for name, inner in value.items() if name not in GENERATED}
    return [_kept(inner) for inner in value] if isinstance(value, list) else value
