"""The rows of a sweep at one scale, and what the values of a command do to them.

What a command gives of a key

- that the sweep sets for all jobs replaces it, in rows with a value of their own, too;
- of the grid replaces it in rows without values of their own, and chooses among those of the other rows;
- of the rows alone chooses the rows that have this value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.config.choices import Choices
from runner.config.experiments.override_meaning import meaning, written
from runner.config.experiments.sweep_block import overrides_of

Row = Mapping[str, Any]


class RowsAtScale:
    """The rows at one scale under the values `user` of a command.

    Attributes:
        grid: the grid at this scale, with the user's values.
        choosing: the keys of which the user's values choose among those of rows.
    """

    def __init__(self, block: Mapping[str, Any], rows: Sequence[Row], scale: str, user: Choices) -> None:
        at_scale = as_choices((block.get("scales") or {}).get(scale) or {})
        grid = as_choices(block.get("grid") or {})
        grid |= {key: lines for key, lines in at_scale.items() if key in grid or len(lines) > 1}
        shared = as_choices(block.get("overrides") or {}) | at_scale
        self._shared = {key: lines for key, lines in shared.items() if key not in grid}
        self._user, self._rows = user, rows
        replaced = self._shared.keys() & user.keys()
        self._own = [
            {key: lines for key, lines in as_choices(overrides_of(row, scale)).items() if key not in replaced}
            for row in rows
        ]
        self.grid: Choices = {key: user.get(key, lines) for key, lines in grid.items()}
        self.choosing = {key for own in self._own for key in own} & user.keys()

    def may_be_any(self, key: str) -> bool:
        """Whether there is a row for each value that the user may give of `key`."""
        return key not in self.choosing or (key in self.grid and any(key not in own for own in self._own))

    def values(self, key: str) -> list[str]:
        """What the rows themselves have of `key`."""
        return [line for own in self._own for line in own.get(key, [])]

    def chosen(self) -> Iterator[tuple[Row, Choices]]:
        """The rows that the user's values leave, each with what its keys may be."""
        given = {key: set(map(meaning, self._user[key])) for key in self.choosing}
        for row, own in zip(self._rows, self._own, strict=True):
            left = {
                key: [line for line in lines if key not in given or meaning(line) in given[key]]
                for key, lines in own.items()
            }
            if all(left.values()) and self.choosing <= own.keys() | self.grid.keys():
                others = {key: lines for key, lines in self._user.items() if key not in own}
                yield row, {**self._shared, **self.grid, **others, **left}


def as_choices(block: Mapping[Any, Any]) -> Choices:
    """A node of an experiment: a list is what the key may be, anything else what it is."""
    return {
        str(key): [f"{key}={written(item)}" for item in (value if isinstance(value, list) else [value])]
        for key, value in block.items()
    }
