"""Unit and better direction of each metric, kept in the index: the classes that say it need torch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass

from runner.site.index.store_index import Index


@dataclass(frozen=True)
class MetricFacts:
    """Of one metric: its unit, ``min``, ``max`` or ``none``, and what that means in words."""

    unit: str = ""
    direction: str = "none"
    better: str = ""

    def titled(self, name: str) -> str:
        """The name with the unit."""
        return f"{name} ({self.unit})" if self.unit and self.unit not in name.lower() else name


def metric_facts(names: Collection[str], index: Index) -> dict[str, MetricFacts]:
    """What is known of each of these metrics."""
    kept = index.kept.setdefault("metrics", {})
    if unknown := [name for name in names if name not in kept]:
        from runner.report.figures.metric_axis import quantity_of
        from runner.report.page.markdown import BETTER

        for name in unknown:
            quantity = quantity_of(name)
            said = BETTER[quantity.direction]
            kept[name] = asdict(MetricFacts(quantity.unit, quantity.direction.value, said))
    return {name: MetricFacts(**kept[name]) for name in names}
