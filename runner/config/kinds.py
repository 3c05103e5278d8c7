"""What a `_target_` may name, decided before anything is called.

Where a kernel is wanted, a `_target_` names a class of kernels, or a function whose annotation says that it
returns one. What is wanted of an argument is what its parameter's annotation says.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from runner.execution.errors import UserError

PROJECT = ("targets.", "samplers.", "metrics.", "runner.")
"""The packages of this project's own classes; any other class is the user's."""

PLAIN = (str, int, float, list, Mapping, type(None))
"""What a configuration holds."""

UNIONS = (typing.Union, types.UnionType)

ARRAYS = ("torch", "numpy")
"""Packages of classes that no plain value is, beside which an annotation may name a number."""

Kinds = tuple[type, ...]
"""Classes, any of which will do."""


def check_kind(found: Any, path: str, key: str, kinds: Kinds) -> None:
    """Refuses what is neither a class of one of `kinds` nor a function that says it returns one.

    Args:
        found: what `path`, given at `key`, names.

    Raises:
        UserError: naming the key, the path and the class that is wanted.
    """
    given = class_of(found)
    if given is None or not any(_is_of_kind(given, kind) for kind in kinds):
        wanted = " or ".join(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
        hint = "."
        if given is None and inspect.isfunction(found) and kinds:
            shown = f"def {found.__name__}(...) -> {kinds[0].__qualname__}"
            hint = f"; a function must be annotated with what it returns, as in {shown}."
        raise UserError(f"{key}={path} is no {wanted or 'class that belongs there'}{hint}")


def class_of(found: Any) -> type | None:
    """The class `found`, or that which a function says it returns; None where it says none."""
    given = found if isinstance(found, type) else _hints(found).get("return")
    return given if isinstance(given, type) else None


def check_helper(found: Any, path: str, key: str, owner: str) -> None:
    """Refuses, for a parameter without annotation, all but our own classes and those of the owner's package.

    Args:
        owner: path of the class that has the parameter.

    Raises:
        UserError: naming the key and what would allow the class.
    """
    home = f"{owner.split('.', 1)[0]}."
    if not isinstance(found, type) or not f"{found.__module__}.".startswith((*PROJECT, home)):
        raise UserError(
            f"{key}={path} is no class of this project or of the package of {owner}; "
            "an annotation of the parameter can allow another."
        )


def parameter_hints(owner: Callable[..., Any], built_by: Callable[..., Any]) -> dict[str, Any]:
    """The annotation of each parameter of `built_by`, which builds the class `owner`; none where unknown."""
    try:
        found = inspect.signature(built_by, eval_str=True).parameters
    except Exception:  # an annotation may name anything, and a built-in function has no signature
        found = types.MappingProxyType({})
    own = _hints(owner)
    known = {name: own.get(name, parameter.annotation) for name, parameter in found.items()}
    known |= {name: each.annotation for name, each in found.items() if not isinstance(each.annotation, str)}
    return {name: hint for name, hint in known.items() if hint is not inspect.Parameter.empty}


def kinds_in(annotation: Any) -> Kinds | None:
    """The classes in an annotation, None among them left out; None where it allows anything."""
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        return ()
    if origin in UNIONS:
        parts = [kinds_in(part) for part in typing.get_args(annotation) if part is not type(None)]
        return None if None in parts else tuple(kind for part in parts if part for kind in part)
    if origin is not None:
        return (origin,) if isinstance(origin, type) else None
    return (annotation,) if isinstance(annotation, type) and annotation is not object else None


def check_value(value: Any, annotation: Any, key: str) -> None:
    """Refuses a plain value where one of this project's own objects is wanted.

    Raises:
        UserError: naming the key and the value.
    """
    kinds = kinds_in(annotation)
    ours = kinds and all(f"{kind.__module__}.".startswith(PROJECT) for kind in kinds)
    null = type(None) in typing.get_args(annotation)
    if not ours or (value is None and null) or not isinstance(value, PLAIN):
        return
    raise UserError(
        f"{key} must be {'null or ' if null else ''}a group of keys with a _target_{_such_as(kinds)}, "
        f"{value!r} was given."
    )


def as_annotated(value: Any, annotation: Any, key: str) -> Any:
    """A plain value as the annotation asks for it: a float for 1 where it says float, an int for 2.0 at int.

    Code of a user's may compare it without looking at it first, and any text is true. A null is left to the
    class, whose default it may be.

    Raises:
        UserError: naming the key and the value, where the annotation allows numbers alone, or truth values
            alone, and the value is none.
    """
    parts = typing.get_args(annotation) if typing.get_origin(annotation) in UNIONS else (annotation,)
    words = [
        word for part in parts if typing.get_origin(part) is typing.Literal for word in typing.get_args(part)
    ]
    numbers = [part for part in parts if part in (int, float)]
    if bool in parts and {bool, type(None)}.issuperset(parts) and not isinstance(value, bool | None):
        null = "null, " * (type(None) in parts)
        raise UserError(f"{key} must be {null}true or false, {value!r} was given.")
    if not numbers or any(map(_takes_others, parts)) or value is None or value in words:
        return value
    whole = float not in numbers
    if _is_number(value) and (not whole or isinstance(value, int) or value.is_integer()):
        if not whole and isinstance(value, int) and abs(value) > sys.float_info.max:
            raise UserError(f"{key} must be a number that a float can hold.")
        return int(value) if whole else float(value) if int not in numbers else value
    allowed = ["null"] * (type(None) in parts) + [f"a {'whole ' * whole}number", *map(repr, words)]
    raise UserError(f"{key} must be {' or '.join(allowed)}, {value!r} was given.")


def _takes_others(part: Any) -> bool:
    """Whether a part of an annotation allows more than numbers, words and null."""
    home = str(getattr(part, "__module__", "")).split(".", 1)[0]
    plain = part in (int, float, type(None)) or typing.get_origin(part) is typing.Literal
    return not plain and home not in ARRAYS


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _such_as(kinds: Kinds | None) -> str:
    """The first class among `kinds` that can be built, by its shortest path, and its keys; empty without."""
    for kind in kinds or ():
        if inspect.isabstract(kind) or getattr(kind, "_is_protocol", False):
            continue
        package = kind.__module__.split(".", 1)[0]
        public = getattr(importlib.import_module(package), kind.__name__, None) is kind
        path = f"{package if public else kind.__module__}.{kind.__qualname__}"
        return f", such as {path} with {', '.join(inspect.signature(kind).parameters)}"
    return ""


def _hints(owner: Any) -> dict[str, Any]:
    called: Any = inspect.getattr_static(owner, "__init__") if isinstance(owner, type) else owner
    try:
        return typing.get_type_hints(called)
    except Exception:  # an annotation may name anything
        return {}


def _is_of_kind(given: type, kind: type) -> bool:
    """Whether `given` is a subclass of `kind`, or has the methods of `kind` where that is a protocol."""
    if getattr(kind, "_is_protocol", False):
        wanted = [name for name, each in vars(kind).items() if callable(each) and not name.startswith("_")]
        return all(callable(getattr(given, name, None)) for name in wanted)
    return issubclass(given, kind)
