"""The checks of a constructor that need no torch, found in its source and made before its module is imported.

A constructor says ``within("balancing", balancing, 0.0, 1.0)``: a key, the argument of that name, and limits.
The functions are those of `targets.checks`: the sentence is the constructor's own, some seconds earlier.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runner.catalogue.source import Source, source_of
from runner.config.construct import errors_at
from runner.config.kinds import PROJECT
from runner.execution.errors import UserError
from targets.checks import is_number, one_of, positive_number, whole_number, within

CHECKS: dict[str, Callable[..., object]] = {
    "whole_number": whole_number,
    "positive_number": positive_number,
    "positive": positive_number,
    "within": within,
    "one_of": one_of,
}
"""By the names that constructors use; `samplers.hyperparameters.positive` also makes a tensor."""

PLAIN = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
"""Statements that are made whatever the arguments are."""

OPEN, ALLOWED = ("step_size", "radius"), "a positive number or 'auto'"
"""The arguments that samplers' builders leave open, and what they allow."""


def check_plainly(node: Mapping[str, Any], key: str) -> None:
    """Makes the plain checks of the class of ours that `node`, which stands at `key`, names.

    Only numbers are checked, and text that must be one of some names: what else a key may be, such as
    ``auto``, is known to who builds the class.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    path = node.get("_target_")
    if not isinstance(path, str) or not path.startswith(PROJECT):
        return
    try:
        checks = list(_checks(source_of(path)))
    except UserError:  # there is no such class: who builds it says so, and what there is
        return
    for name, check, limits in checks:
        value = node.get(name.rsplit(".", 1)[-1])
        if is_number(value) or (isinstance(value, str) and check is one_of):
            if check is positive_number and name in OPEN:
                limits = [ALLOWED]
            with errors_at(key, node):
                check(name, value, *limits)
    for name, inside in node.items():
        if isinstance(inside, Mapping):
            check_plainly(inside, f"{key}.{name}")


def _checks(source: Source) -> Iterator[tuple[str, Callable[..., object], list[Any]]]:
    """Argument, check and limits of each unconditional check of constructors, or of a function."""
    for owner, statements in source.constructors:
        for call in (each for part in statements if isinstance(part, PLAIN) for each in ast.walk(part)):
            match call:
                case ast.Call(
                    func=ast.Name(id=check),
                    args=[ast.Constant(value=str(name)), ast.Name(id=given), *limits],
                    keywords=[],
                ) if check in CHECKS and name.rsplit(".", 1)[-1] == given:
                    known = [owner.literal(limit) for limit in limits]
                    if None not in known:
                        yield name, CHECKS[check], known
