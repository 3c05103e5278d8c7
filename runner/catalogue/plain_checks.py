"""The checks of a constructor that need no torch, found in its source and made before its module is imported.

A constructor says ``within("balancing", balancing, 0.0, 1.0)``. Such a call is made here where all of it is
known: the arguments are in the configuration, the limits are literals, and the condition that it stands under
holds. The functions are those that the constructor calls, so that the sentence is its own, seconds earlier.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, TypeGuard

from runner.catalogue.source import Source, source_of
from runner.config.construct import errors_at
from runner.config.kinds import PROJECT
from runner.execution.errors import UserError
from samplers import hyperparameters
from samplers.hyperparameters import AUTO, STMH, check_ladder_sizes
from samplers.tuning.builders import SETTINGS
from targets import checks

CHECKS: dict[str, Callable[..., object]] = {
    each.__name__: each
    for each in (
        *(checks.whole_number, checks.positive_number, checks.within, checks.at_most, checks.one_of),
        *(hyperparameters.positive_or_auto, hyperparameters.wanted_acceptance),
        *(hyperparameters.decreasing_ladder, hyperparameters.check_replicas, hyperparameters.check_floor),
        *(hyperparameters.cycle_positions, hyperparameters.cycle_balancing, hyperparameters.balanced),
        *(hyperparameters.move_rate, hyperparameters.hottest_rung),
    )
}
"""By the names that constructors use."""

KNOWN = CHECKS | {
    "positive": checks.positive_number,  # that of `samplers.hyperparameters` also makes a tensor
    "is_number": checks.is_number,
    "is_word": hyperparameters.is_word,
    "isinstance": isinstance,
    "str": str,
}
"""What an expression may name besides arguments and literals."""

TUNED = ("step_size", "radius")
"""The arguments of kernels that tuning finds where they are ``auto``."""

UNKNOWN = (NameError, AttributeError, TypeError, KeyError)
"""How an expression ends that cannot be known without torch."""


# Module state: the jobs of a sweep share most of their settings.
_passed: set[tuple[str, str, str]] = set()


def check_plainly(node: object, key: str) -> None:
    """Makes the plain checks of the class of ours that `node`, which stands at `key`, names.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    if not isinstance(node, Mapping):
        return
    path = node.get("_target_")
    if isinstance(path, str) and path.startswith(PROJECT):
        _check(path, node, key)
    for name, inside in node.items():
        check_plainly(inside, f"{key}.{name}")


def check_sampler_plainly(node: Mapping[str, Any], key: str) -> None:
    """`check_plainly` for a sampler, whose settings may be ``auto`` (`samplers.tuning.configured`).

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    path = str(node.get("_target_"))
    given = {name: value for name, value in node.items() if not isinstance(value, Mapping)}
    if path in SETTINGS:
        _check(SETTINGS[path], given, key)
        _check_ladder_sizes(node, key)
    elif path.startswith(PROJECT):
        with errors_at(key, node):
            if "acceptance" in given:
                hyperparameters.wanted_acceptance(given.pop("acceptance"))
                for name in TUNED:
                    hyperparameters.positive_or_auto(name, given.pop(name, AUTO))
        _check(path, {name: value for name, value in given.items() if value != AUTO}, key)
    for name, inside in node.items():
        if isinstance(inside, Mapping):
            check_sampler_plainly(inside, f"{key}.{name}")


def _check_ladder_sizes(node: Mapping[str, Any], key: str) -> None:
    """The check of a step size of a ladder, which is about its rungs and about the kernel on them, too."""
    kernel, size, ladder = node.get("kernel"), node.get("step_size"), node.get("ladder")
    path = str(kernel.get("_target_")) if isinstance(kernel, Mapping) else ""
    if size is None or not path.startswith(PROJECT):
        return
    source = source_of(path)
    members = source.members()
    takes = members.get("tensor_step_size") and members.get("step_name") in source.arguments
    # Only simulated tempering has a rate, and knows the word beside auto.
    words = (AUTO, STMH) if "rate" in node and source.name == "GaussianWalk" else (AUTO,)
    # A schedule of annealing has no ladder, and takes any number of sizes.
    counted = ladder if "ladder" in node else size
    rungs = len(counted) if isinstance(counted, list) else node.get("replicas")
    with errors_at(key, node):
        check_ladder_sizes(size, rungs, source.name, takes=bool(takes), words=words)


def _check(path: str, node: Mapping[str, Any], key: str) -> None:
    values = {name: value for name, value in node.items() if not isinstance(value, Mapping)}
    if (made := (path, key, repr(values))) in _passed:
        return
    try:
        constructors = list(source_of(path).constructors)
    except UserError:  # there is no such class: who builds it says so, and what there is
        return
    for owner, constructor in constructors:
        with errors_at(key, node):
            _make(constructor.body, _Names(owner, constructor, values))
    _passed.add(made)


class _Names(dict[str, Any]):
    """The values of the names in a constructor: arguments that are given, literals, and functions."""

    def __init__(self, owner: Source, constructor: ast.FunctionDef, given: Mapping[str, Any]) -> None:
        self.owner = owner
        self.local = Counter(each.id for each in ast.walk(constructor) if _is_set(each))
        taken = constructor.args.args + constructor.args.kwonlyargs
        super().__init__(KNOWN | {each.arg: given[each.arg] for each in taken if each.arg in given})
        if constructor.name == "__post_init__":
            self["self"] = SimpleNamespace(**given)
        for name in self.local:
            self.pop(name, None)

    def __missing__(self, name: str) -> Any:
        found = None if name in self.local else self.owner.literal(ast.Name(name))
        if found is None:
            raise KeyError(name)
        return found

    def keep(self, assignment: ast.Assign) -> None:
        """Remembers what ``self.name = value`` sets, and a name that is set once."""
        place = assignment.targets[0]
        with suppress(*UNKNOWN):
            if isinstance(place, ast.Attribute) and "self" in self:
                setattr(self["self"], place.attr, self.value(assignment.value))
            elif isinstance(place, ast.Name) and self.local[place.id] == 1:
                self[place.id] = self.value(assignment.value)

    def value(self, expression: ast.expr) -> Any:
        """Raises one of `UNKNOWN`, where it has none, and ValueError if a check in it fails."""
        return eval(
            compile(ast.Expression(expression), self.owner.module, "eval"), {"__builtins__": {}}, self
        )


def _is_set(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _make(statements: list[ast.stmt], names: _Names) -> None:
    """Makes the checks in `statements` whose conditions are known to hold.

    Raises:
        ValueError: if one fails.
    """
    for part in statements:
        if isinstance(part, ast.If):
            for branch in _branches(part.test, part.body, part.orelse, names):
                _make(branch, names)
        elif isinstance(part, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return) and part.value:
            for call in _calls(part.value, names):
                with suppress(*UNKNOWN):
                    names.value(call)
            if isinstance(part, ast.Assign):
                names.keep(part)


def _calls(node: ast.AST, names: _Names) -> Iterator[ast.Call]:
    """The calls of checks in an expression, those inside others first."""
    if isinstance(node, ast.IfExp):
        for chosen in _branches(node.test, node.body, node.orelse, names):
            yield from _calls(chosen, names)
        return
    if isinstance(node, ast.BoolOp | ast.Lambda | ast.ListComp | ast.GeneratorExp):
        return
    for inside in ast.iter_child_nodes(node):
        yield from _calls(inside, names)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in (*CHECKS, "positive")
    ):
        yield node


def _branches(test: ast.expr, body: Any, otherwise: Any, names: _Names) -> list[Any]:
    """The branch that `test` chooses; none where that is not known."""
    try:
        return [body if names.value(test) else otherwise]
    except UNKNOWN:
        return []
