"""Prose of docstrings and comments as Markdown."""

from __future__ import annotations

import re

from docs.generator.works import linked

CITATION = re.compile(
    r"`{0,2}(?:experiments\.md|settings\.md)`{0,2},? ([A-J](?:\.\d+)?|0(?:\.\d+)?)\b"
    r"|\b(?:experiments|settings) ([A-J](?:\.\d+)?)\b"
)
"""How code cites a section of docs/papers/settings.md."""


def markdown(text: str, docs: str) -> str:
    """Docstring prose as Markdown: nothing but code spans, lists and citations is markup.

    Args:
        text: prose of a docstring.
        docs: relative address of the folder docs/, empty or with a slash at its end, for citations.
    """
    return cited(
        "\n".join(line if line.startswith("    ") else _escaped(line) for line in text.splitlines()), docs
    )


def cited(text: str, docs: str) -> str:
    """`text` with citations of the settings, and of published works, as links."""

    def link(found: re.Match[str]) -> str:
        section = found.group(1) or found.group(2)
        return f"[settings {section}]({docs}papers/settings.md#{anchor(section)})"

    return linked(CITATION.sub(link, text), f"{docs}references.md")


def anchor(section: str) -> str:
    """The anchor of a section of the settings: ``B.4`` is ``b4``, ``0`` is ``findings``."""
    return "findings" if section == "0" else section.lower().replace(".", "")


def cell(text: str) -> str:
    """Text for a cell of a Markdown table, code spans kept."""
    return " ".join(_escaped(text.replace("\n", " "), in_code="|").split())


def _escaped(text: str, in_code: str = "") -> str:
    """`text` without markup but its code spans, in which only the characters `in_code` are escaped."""
    pieces = re.split(r"(``[^`]+``|`[^`]+`)", text)
    special = f"[{re.escape(in_code)}]" if in_code else "(?!)"
    return "".join(
        re.sub(rf"({special})", r"\\\1", piece)
        if piece.startswith("`")
        else re.sub(r"([*_|\[\]])", r"\\\1", piece).replace("<", "&lt;")
        for piece in pieces
    )
