"""Hydra's overrides as texts: their keys, and values in quotes where the grammar of overrides needs them."""

from __future__ import annotations

import re

PLAIN = re.compile(r"(\.{0,2}/|[A-Za-z_])[A-Za-z0-9_/.:-]*")
"""What the grammar reads as one text without quotes, unless it is one of `WORDS`."""

WORDS = ("null", "true", "false", "inf", "nan")
"""What the grammar reads as another value than a text."""


def key_of(line: str) -> str:
    """The key of an override, without the sign before it."""
    return line.partition("=")[0].lstrip("+")


def quoted(text: str) -> str:
    """`text` as the value of an override: as it is, or in quotes with what is special in them escaped."""
    if PLAIN.fullmatch(text) and text.lower() not in WORDS:
        return text

    from hydra.core.override_parser.types import Quote, QuotedString  # takes a tenth of a second

    return QuotedString(text, Quote.double).with_quotes()
