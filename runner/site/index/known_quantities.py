"""Unit, range and better direction of each metric, kept in the index: to read them takes half a second."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict

from runner.integrity.own_code import code_digest
from runner.report.figures.metric_axis import Quantity, quantity_of
from runner.report.table_shape import Direction
from runner.site.index.store_index import Index


def known_quantities(
    names: Collection[str], index: Index, own: Mapping[str, str] | None = None
) -> dict[str, Quantity]:
    """What is known of each of these metrics.

    Args:
        own: the user's own metrics (`runner.catalogue.metric_paths.own_metrics`); None for those of all runs.
    """
    if own is None:
        own = {name: path for run in index.runs.values() for name, path in run.own_metrics.items()}
    kept = index.kept.setdefault("quantities", {})
    found = {}
    for name in names:
        classes = sorted(item for item in own.items() if f"{name}_".startswith(f"{item[0]}_"))
        key = " ".join([name, *(f"{path} {code_digest(path)}" for _, path in classes)])
        if key not in kept:
            quantity = quantity_of(name, own)
            kept[key] = asdict(quantity) | {"direction": quantity.direction.value}
        found[name] = Quantity(**{**kept[key], "direction": Direction(kept[key]["direction"])})
    return found
