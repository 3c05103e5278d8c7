"""Docstrings in their parts: summary, body, facts, and the entries of their sections."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

SECTIONS = ("Args", "Attributes", "Returns", "Raises")

FACTS = ("Spaces", "Cost", "Source")
"""Lines ``Cost: one gradient`` of a docstring: the state spaces that a class serves, what a step costs in
evaluations of the target, the paper and its equations. The tests measure spaces and costs."""

FACT = re.compile(
    rf"^({'|'.join(FACTS)}): (.+(?:\n\S.*)*?)(?=\n(?:{'|'.join(FACTS)}): |\n\n|\Z)\n*", re.MULTILINE
)


@dataclass(frozen=True)
class Docstring:
    """A docstring's first sentence, the paragraphs after it, its facts, and its sections by entry."""

    summary: str = ""
    body: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    sections: dict[str, dict[str, str]] = field(default_factory=dict)


def docstring_parts(text: str | None) -> Docstring:
    """The parts of a docstring; None has none."""
    parts = re.split(rf"^({'|'.join(SECTIONS)}):\s*$", inspect.cleandoc(text or ""), flags=re.MULTILINE)
    facts = {name: " ".join(said.split()).rstrip(".") for name, said in FACT.findall(parts[0])}
    first, _, rest = FACT.sub("", parts[0]).strip().partition("\n\n")
    sections = {name: _entries(block) for name, block in zip(parts[1::2], parts[2::2], strict=True)}
    return Docstring(" ".join(first.split()), rest.strip(), facts, sections)


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
