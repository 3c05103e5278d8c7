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
        ValueError: for a name that no metric has, or two metrics of one name.
        TypeError: for a text where a list is needed, or something else than a name, a class or a function.
    """
    if isinstance(wanted, str):
        raise TypeError(f"metrics must be a list of names, such as [{wanted!r}], {wanted!r} was given")
    factories: dict[str, Factory] = {}
    for place, each in enumerate(wanted):
        if not isinstance(each, str) and not callable(each):
            raise TypeError(f"metrics must be names, classes or functions of a Context, {each!r} was given")
        name = each if isinstance(each, str) else str(getattr(each, "name", f"metric {place + 1}"))
        if name in factories:
            raise ValueError(f"metrics must have different names, two have the name {name!r}")
        factories[name] = (
            metric_classes()[one_of("metrics", each, metric_classes())] if isinstance(each, str) else each
        )
    return factories
