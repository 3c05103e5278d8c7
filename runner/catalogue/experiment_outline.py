"""The columns, rows and metrics of an experiment in a sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def outline(content: Mapping[str, Any]) -> list[str]:
    """Sentences on the sweep and the table of an experiment's YAML, `content`."""
    sweep, sentences = content.get("sweep") or {}, []
    grid = [f"`{key}` over {_listed(values)}" for key, values in (sweep.get("grid") or {}).items()]
    labels = dict.fromkeys(str(row["row"]) for row in sweep.get("rows", []))
    metrics = (content.get("table") or {}).get("metrics", [])
    shown = dict.fromkeys(str(one.get("name", one["metric"])) for one in metrics)
    for title, parts in (("Columns", grid), ("Rows", labels), ("Measured", shown)):
        if parts:
            sentences.append(f"{title}: {'; '.join(parts)}.")
    return sentences


def _listed(values: Any) -> str:
    several = values if isinstance(values, list) else [values]
    return ", ".join("none" if value is None else f"`{value}`" for value in several)
