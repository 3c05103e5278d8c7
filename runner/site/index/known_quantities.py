"""Unit, range and better direction of each metric, kept in the index: the classes that say it need torch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict

from runner.report.figures.metric_axis import Quantity, quantity_of
from runner.report.table_shape import Direction
from runner.site.index.store_index import Index


def known_quantities(names: Collection[str], index: Index) -> dict[str, Quantity]:
    """What is known of each of these metrics."""
    kept = index.kept.setdefault("quantities", {})
    for name in names:
        if name not in kept:
            found = quantity_of(name)
            kept[name] = asdict(found) | {"direction": found.direction.value}
    return {
        name: Quantity(**{**kept[name], "direction": Direction(kept[name]["direction"])}) for name in names
    }
