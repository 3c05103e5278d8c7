"""Functions and constructors take at most seven parameters; what belongs together is one object."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
FLOORS = ("runner", "metrics", "samplers", "targets")
MOST = 7


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many parameters `function` has, the object or class that it belongs to not counted."""
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return sum(each is not None and each.arg not in ("self", "cls") for each in named)


def test_no_function_takes_more_than_seven_parameters() -> None:
    functions = {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": parameters(node)
        for floor in FLOORS
        for path in sorted((ROOT / floor).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert len(functions) > 1000
    assert {name: number for name, number in functions.items() if number > MOST} == {}
