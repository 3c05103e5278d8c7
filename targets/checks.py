"""Checks of arguments, each with one sentence that names the key, the value given and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence


def whole_number(key: str, value: object, least: int = 1, error: type[ValueError] = ValueError) -> int:
    """`value` if it is an integer of at least `least`.

    Raises:
        ValueError: otherwise; or `error`, a subclass.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise error(f"{key} must be a whole number of at least {least}, {value!r} was given")
    return value


def positive_number(key: str, value: object, allowed: str = "a positive number") -> float:
    """`value` as a float if it is positive and finite.

    Raises:
        ValueError: otherwise, naming what is `allowed`.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < math.inf:
        raise ValueError(f"{key} must be {allowed}, {value!r} was given")
    return float(value)


def one_of(
    key: str, value: object, allowed: Sequence[int] | Sequence[str], error: type[ValueError] = ValueError
) -> None:
    """Does nothing if `value` is among those `allowed`, all of one type.

    Raises:
        ValueError: otherwise; or `error`, a subclass.
    """
    if type(value) is not type(allowed[0]) or value not in allowed:
        raise error(f"{key} must be one of {', '.join(map(str, allowed))}, {value!r} was given")
