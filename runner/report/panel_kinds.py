"""The kinds of panels that a figure can have, found among the modules of `runner.report.panels`."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module

from runner.execution.errors import UserError, listed, nearest, unknown
from runner.report import panels
from runner.report.figure_shape import FigureShape, PanelShape
from runner.report.figures.panel import PanelKind
from runner.report.table_shape import TableShape

DEFAULTS = {field.name: field.default for field in fields(PanelShape) if field.default is not MISSING}
"""The keys of a panel that only some kinds read, each with the value that it has where it is not given."""


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


def check_panels(figures: Iterable[FigureShape]) -> None:
    """Checks that the panels of `figures` are of known kinds and have the keys that their kinds read.

    Raises:
        UserError: for an unknown kind, or a key that is missing or that the kind does not read.
    """
    for number, figure in enumerate(figures):
        for place, panel in enumerate(figure.panels):
            _check(f"table.figures[{number}].panels[{place}]", figure, panel)


def _check(key: str, figure: FigureShape, panel: PanelShape) -> None:
    if panel.kind not in panel_kinds():
        raise unknown(f"{key}.kind", panel.kind, panel_kinds())
    kind = panel_kind(panel.kind)
    name = f"{key} (figure {figure.name}, panel '{panel.title}' of kind {panel.kind})"
    given = {key for key, default in DEFAULTS.items() if getattr(panel, key) != default}
    if missing := set(kind.required) - given:
        raise UserError(f"{name} needs {listed(missing)}.")
    if unread := given - {*kind.required, *kind.optional}:
        read = listed((*kind.required, *kind.optional))
        raise UserError(f"{name} does not read {listed(unread)}; it reads: {read}.")
    for key, words in kind.allowed.items():
        if (word := str(getattr(panel, key))) not in words:
            hint = nearest(word, words) or "."
            raise UserError(f"{name} needs one of {listed(words)} as its {key}, '{word}' was given{hint}")
    if kind.one_column and len(panel.columns) != 1:
        raise UserError(f"{name} takes one column, {len(panel.columns)} were given.")


def shares_axes(figure: FigureShape, shape: TableShape) -> bool:
    """Whether panels of each line can share their vertical axis: it names the same rows or has one metric."""
    for start in range(0, len(figure.panels), figure.across):
        line = figure.panels[start : start + figure.across]
        if len({_vertical(panel, shape) for panel in line}) > 1:
            return False
    return True


def _vertical(panel: PanelShape, shape: TableShape) -> object:
    """What the vertical axis of a panel has: rows that it names, or the values of a metric."""
    if not panel_kind(panel.kind).names_rows:
        return panel.metric
    return tuple(row.row for row in shape.drawn_rows(panel.metric))
