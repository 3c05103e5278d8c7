"""Text in lines that are not too long, without Matplotlib, which takes a while to import."""

from __future__ import annotations

import textwrap

NAME = 72
"""Letters of a row's name in one line."""

IN_ROW, LEFT = "in row", 0.03
"""What a text in the line of a row is called, and its distance from the left, as a share of the panel."""


def break_line(line: str, most: int) -> list[str]:
    """`line` in parts of at most so many letters, where its words are not longer."""
    return textwrap.wrap(line, max(most, 1), break_long_words=False, break_on_hyphens=False)


def row_name(name: str) -> list[str]:
    """The lines in which the name of a row stands beside its panel."""
    return break_line(name, NAME)
