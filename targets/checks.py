"""Checks of arguments, each with one sentence that names the key, the value given and what is allowed."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from numbers import Integral, Real
from types import FunctionType
from typing import Any, TypeVar

Option = TypeVar("Option", int, str)


def is_number(value: object) -> bool:
    """Whether `value` is a real number, of Python or of NumPy, booleans not counted."""
    return isinstance(value, Real) and not isinstance(value, bool)


def whole_number(key: str, value: object, least: int = 1, error: type[ValueError] = ValueError) -> int:
    """`value` as an int if it is an integer, of Python or of NumPy, of at least `least`.

    Raises:
        ValueError: otherwise; or `error`, a subclass.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise error(f"{key} must be a whole number of at least {least}, {value!r} was given")
    return int(value)


def positive_number(key: str, value: Any, allowed: str = "a positive number") -> float:
    """`value` as a float if it is positive and finite.

    Raises:
        ValueError: otherwise, naming what is `allowed`.
    """
    if not is_number(value) or not 0 < value < math.inf:
        raise ValueError(f"{key} must be {allowed}, {value!r} was given")
    return float(value)


def within(key: str, value: Any, low: float, high: float) -> float:
    """`value` as a float in [low, high].

    Raises:
        ValueError: if it is not.
    """
    if not is_number(value) or not low <= value <= high:
        raise ValueError(f"{key} must be a number from {low:g} to {high:g}, {value!r} was given")
    return float(value)


def at_most(key: str, value: float, other: str, limit: float) -> None:
    """Raises ValueError if the number `value` exceeds `limit`, the value of the argument `other`."""
    if value > limit:
        raise ValueError(f"{key} must be at most {other}, which is {limit}, {value!r} was given")


def one_of(
    key: str, value: object, allowed: Iterable[Option], error: type[ValueError] = ValueError
) -> Option:
    """`value` if it is among those `allowed`, all of one type.

    Raises:
        ValueError: otherwise, with the nearest name; or `error`, a subclass.
    """
    options = sorted(allowed)
    for option in options:
        if type(value) is type(option) and value == option:
            return option
    names = [str(option) for option in options if isinstance(option, str)]
    near = difflib.get_close_matches(value, names, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise error(f"{key} must be one of {', '.join(map(str, options))}, {value!r} was given{hint}")


def described(given: object) -> str:
    """What was given in place of an object: a class itself, a function, or something of another type."""
    if isinstance(given, type):
        return f"the class {given.__name__} itself"
    if isinstance(given, FunctionType):
        return f"the function {given.__name__}"
    return repr(given) if isinstance(given, str | int | float) else f"a {type(given).__name__}"
