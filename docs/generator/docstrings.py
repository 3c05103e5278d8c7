"""Docstrings of the classes and functions that conf/ names, as Markdown."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass, field
from typing import Any

SECTIONS = ("Args", "Attributes", "Returns", "Raises")
CITATION = re.compile(
    r"`{0,2}(?:experiments\.md|settings\.md)`{0,2},? ([A-J](?:\.\d+)?|0(?:\.\d+)?)\b"
    r"|\b(?:experiments|settings) ([A-J](?:\.\d+)?)\b"
)
"""How code cites a section of docs/papers/settings.md."""


@dataclass(frozen=True)
class Docstring:
    """A docstring's first sentence, the paragraphs after it, and its sections by entry."""

    summary: str = ""
    body: str = ""
    sections: dict[str, dict[str, str]] = field(default_factory=dict)


def located(dotted: str) -> Any:
    """The class or function at a dotted path."""
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


def docstring(thing: Any) -> Docstring:
    """The docstring of a class or function; its constructor and its module fill what it leaves out."""
    found = _parsed(inspect.cleandoc(thing.__doc__ or ""))
    if inspect.isclass(thing) and "__init__" in vars(thing):
        built = _parsed(inspect.cleandoc(vars(thing)["__init__"].__doc__ or ""))
        found.sections.setdefault("Args", {}).update(built.sections.get("Args", {}))
    if not found.summary:
        found = _parsed(inspect.cleandoc(inspect.getmodule(thing).__doc__ or ""))
    return found


def module_note(thing: Any) -> str:
    """What the docstring of the module says beyond its first sentence."""
    return _parsed(inspect.cleandoc(inspect.getmodule(thing).__doc__ or "")).body


def _parsed(text: str) -> Docstring:
    parts = re.split(rf"^({'|'.join(SECTIONS)}):\s*$", text, flags=re.MULTILINE)
    first, _, rest = parts[0].strip().partition("\n\n")
    sections = {name: _entries(block) for name, block in zip(parts[1::2], parts[2::2], strict=True)}
    return Docstring(" ".join(first.split()), rest.strip(), sections)


def _entries(block: str) -> dict[str, str]:
    """``name: text`` entries of a section, continuation lines joined."""
    entries: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(block).splitlines():
        begun = re.match(r"(\*{0,2}\w+(?:\.\w+)*)(?: \([^)]*\))?: (.*)", line)
        if begun and not line.startswith(" "):
            name = begun.group(1)
            entries[name] = begun.group(2)
        elif name:
            entries[name] += " " + line.strip()
    return entries


def markdown(text: str, settings: str) -> str:
    """Docstring prose as Markdown: nothing but code spans, lists and citations is markup.

    Args:
        text: prose of a docstring.
        settings: relative address of the page of settings, for citations.
    """
    return cited(
        "\n".join(line if line.startswith("    ") else _escaped(line) for line in text.splitlines()), settings
    )


def cited(text: str, settings: str) -> str:
    """`text` with citations of the settings as links."""

    def link(found: re.Match[str]) -> str:
        section = found.group(1) or found.group(2)
        return f"[settings {section}]({settings}#{anchor(section)})"

    return CITATION.sub(link, text)


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
