"""Metrics by their names, for results that were not measured while they were drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import metrics as public
from metrics.metric import Context, Metric
from targets.checks import one_of

Factory = Callable[[Context], Metric]


@cache
def metric_classes() -> dict[str, type[Metric]]:
    """Every public metric by its name."""
    named = (getattr(public, name) for name in dir(public))
    found = [cls for cls in named if isinstance(cls, type) and issubclass(cls, Metric) and cls is not Metric]
    return {cls.name: cls for cls in found}


def metric_factories(wanted: Iterable[str | Factory]) -> dict[str, Factory]:
    """What builds each metric in `wanted`: names, classes, or functions of a `Context`; by name.

    Raises:
        ValueError: for a name that no metric has.
        TypeError: for a text where a list is needed.
    """
    if isinstance(wanted, str):
        raise TypeError(f"metrics must be a list of names, such as [{wanted!r}], {wanted!r} was given")
    factories: dict[str, Factory] = {}
    for place, each in enumerate(wanted):
        if isinstance(each, str):
            factories[each] = metric_classes()[one_of("metrics", each, metric_classes())]
        else:
            factories[getattr(each, "name", f"metric {place + 1}")] = each
    return factories
