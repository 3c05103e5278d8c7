"""Footnotes of a page and the letters that point to them."""

from __future__ import annotations

from dataclasses import dataclass, field

LETTERS = "abcdefghijklmnoprstuvwxyz"
"""Those that exist as superscripts in plain text: there is no superscript q."""


@dataclass
class Footnotes:
    """Letters for footnotes, in the order of their first use."""

    texts: list[str] = field(default_factory=list)

    def marks(self, text: str | None) -> tuple[str, ...]:
        """The letter of `text`; nothing for None."""
        if text is None:
            return ()
        if text not in self.texts:
            self.texts.append(text)
        return (mark(self.texts.index(text)),)


def mark(place: int) -> str:
    """The letter of the footnote at `place`; after z they are doubled."""
    times, letter = divmod(place, len(LETTERS))
    return LETTERS[letter] * (times + 1)
