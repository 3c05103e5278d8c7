"""What is wrong in the panels of a table's figures, found without the code that draws them.

To import that takes matplotlib, and half a second. What a kind reads is known from the source of its module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any

from runner.execution.errors import UserError, listed, nearest, unknown
from runner.report import panels
from runner.report.figure_shape import FigureShape, PanelKeys, PanelShape

DEFAULTS = {field.name: field.default for field in fields(PanelShape) if field.default is not MISSING}
"""The keys of a panel that only some kinds read, each with the value that it has where it is not given."""

READ = {field.name for field in fields(PanelKeys)}
"""The arguments of a `PanelKind` that say which keys it reads."""


class _Constants(dict[str, Any]):
    """The constants of a module by their names, each evaluated when it is asked for."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.nodes: dict[str, ast.expr] = {}
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign):
                self.nodes |= {each.id: node.value for each in node.targets if isinstance(each, ast.Name)}

    def __missing__(self, name: str) -> Any:
        return self.value(self.nodes[name])

    def value(self, node: ast.expr) -> Any:
        """What an expression of literals and constants is."""
        return eval(compile(ast.Expression(node), "<panels>", "eval"), {"__builtins__": {}}, self)


@cache
def panel_keys() -> dict[str, PanelKeys]:
    """What each kind reads, by its name: the keywords in ``KINDS = {NAME: PanelKind(...)}`` of its module."""
    found: dict[str, PanelKeys] = {}
    for path in (path for folder in panels.__path__ for path in sorted(Path(folder).glob("[!_]*.py"))):
        constants = _Constants(path)
        declared = constants.nodes["KINDS"]
        assert isinstance(declared, ast.Dict)
        for name, kind in zip(declared.keys, declared.values, strict=True):
            assert isinstance(name, ast.Constant)
            assert isinstance(kind, ast.Call)
            given = {each.arg: each.value for each in kind.keywords if each.arg in READ}
            found[str(name.value)] = PanelKeys(
                **{str(key): constants.value(node) for key, node in given.items()}
            )
    return found


def check_panels(figures: Iterable[FigureShape]) -> None:
    """Checks that the panels of `figures` are of known kinds and have the keys that their kinds read.

    Raises:
        UserError: for an unknown kind, or a key that is missing or that the kind does not read.
    """
    for figure in figures:
        for panel in figure.panels:
            _check(figure, panel)


def _check(figure: FigureShape, panel: PanelShape) -> None:
    if panel.kind not in panel_keys():
        raise unknown("panel kind", panel.kind, panel_keys())
    kind = panel_keys()[panel.kind]
    name = f"Figure {figure.name}, panel '{panel.title}' of kind {panel.kind}"
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
