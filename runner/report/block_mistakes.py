"""What is wrong in the `table:` block of an experiment, with its place in the block."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from itertools import chain
from typing import Any

from runner.config.experiments.sweep_block import QUOTED_TEXT
from runner.execution.errors import listed, nearest, not_allowed

Found = Iterator[str]

LEAVES: dict[type, tuple[str, Callable[[Any], bool]]] = {
    bool: ("true or false", lambda value: isinstance(value, bool)),
    int: ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    float: (
        "a finite number",
        lambda value: (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and abs(value) <= sys.float_info.max
        ),
    ),
    str: ("a text", lambda value: not isinstance(value, Mapping | list | bool)),
}
"""What a plain value must be, by its type in the schema; a text may be written as a number."""

RANGE = "range"
"""Where the metadata of a schema's field say what its values must be beyond their type, as `LEAVES` does."""


def within(wanted: str, fits: Callable[[Any], bool]) -> dict[str, Any]:
    """The metadata of a field whose values must fit, which is `wanted` in words."""
    return {RANGE: (wanted, fits)}


POSITIVE = within("a number above 0", lambda value: value > 0)
NOT_ZERO = within("a number other than 0", lambda value: value != 0)
ENDS = within("two numbers, the first below the second", lambda ends: len(ends) == 2 and ends[0] < ends[1])


def mistakes(value: Any, hint: Any, key: str) -> Found:
    """One sentence for each mistake in `value`, which stands at `key` and is to be what `hint` says.

    Args:
        value: plain values, as a YAML file has them.
        hint: a dataclass, or an annotation of one of its fields.
    """
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        (other,) = (each for each in inside if each is not type(None))
        yield from () if value is None else mistakes(value, other, key)
    elif origin is list:
        yield from _list(value, inside[0], key)
    elif origin is dict:
        parts = value.items() if isinstance(value, Mapping) else ()
        yield from () if isinstance(value, Mapping) else (_not(key, "keys with values", value),)
        yield from chain.from_iterable(mistakes(each, inside[1], f"{key}.{name}") for name, each in parts)
    elif is_dataclass(hint):
        yield from _keys(value, hint, key)
    elif isinstance(hint, type) and issubclass(hint, Enum):
        names = [each.name for each in hint]
        if value not in names:
            yield str(not_allowed(f"{key} must be {' or '.join(names)}", value, names))
    elif hint in LEAVES:
        wanted, fits = LEAVES[hint]
        wanted = QUOTED_TEXT if hint is str and isinstance(value, bool) else wanted
        yield from () if fits(value) else (_not(key, wanted, value),)


def _list(value: Any, inside: Any, key: str) -> Found:
    if not isinstance(value, Sequence) or isinstance(value, str):
        yield _not(key, "a list", value)
        return
    for place, each in enumerate(value):
        yield from mistakes(each, inside, f"{key}[{place}]")


def _keys(value: Any, schema: Any, key: str) -> Found:
    """Mistakes in the keys of a block, and in their values."""
    if not isinstance(value, Mapping):
        yield _not(key, "keys with values", value)
        return
    hints, names = typing.get_type_hints(schema), [each.name for each in fields(schema)]
    for name in value:
        if name not in names:
            hint = nearest(str(name), names) or "."
            yield f"unknown key '{key}.{name}'{hint} It may have: {listed(names)}."
    for each in fields(schema):
        if each.name in value:
            found, place = value[each.name], f"{key}.{each.name}"
            wrong = list(mistakes(found, hints[each.name], place))
            if RANGE in each.metadata and found is not None and not wrong:
                wanted, fits = each.metadata[RANGE]
                wrong = [] if fits(found) else [_not(place, wanted, found)]
            yield from wrong
        elif each.default is MISSING and each.default_factory is MISSING:
            yield f"{key} needs the key '{each.name}', which has no value."


def _not(key: str, wanted: str, value: Any) -> str:
    return f"{key} must be {wanted}, {value!r} was given."
