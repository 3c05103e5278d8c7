"""The kinds of panels that a figure can have, found among the modules of `runner.report.panels`."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from runner.execution.errors import listed, unknown
from runner.report import panels
from runner.report.figure_shape import FigureShape
from runner.report.figures.panel import PanelKind


@cache
def panel_kinds() -> dict[str, PanelKind]:
    """Every kind by its name.

    Raises:
        ValueError: if two modules declare the same name.
    """
    kinds: dict[str, PanelKind] = {}
    for module in pkgutil.iter_modules(panels.__path__):
        declared: dict[str, PanelKind] = import_module(f"{panels.__name__}.{module.name}").KINDS
        if twice := kinds.keys() & declared:
            raise ValueError(f"panels/{module.name}.py declares {listed(twice)}, another panel does too")
        kinds |= declared
    return kinds


def panel_kind(name: str) -> PanelKind:
    """The kind with this name.

    Raises:
        UserError: if there is none.
    """
    kinds = panel_kinds()
    if name not in kinds:
        raise unknown("panel kind", name, kinds)
    return kinds[name]


def shares_axes(figure: FigureShape) -> bool:
    """Whether the panels of each line can share their vertical axis: it names rows, or has one metric."""
    for start in range(0, len(figure.panels), figure.across):
        line = figure.panels[start : start + figure.across]
        if len({"rows" if panel_kind(panel.kind).names_rows else panel.metric for panel in line}) > 1:
            return False
    return True
