"""How code and pages cite published works, whose list is docs/references.md."""

from __future__ import annotations

import re

NAME = r"[A-Z][A-Za-z]+(?:-[A-Z][a-z]+)*"
NAMES = rf"{NAME}(?:,\s+{NAME})*\s+and\s+{NAME}|{NAME}\s+et\s+al\."
WORK = re.compile(
    rf"({NAMES}|{NAME}(?=\s+\()|(?<=\(){NAME}|(?<=;\s){NAME})"
    r"\s+(\()?((?:18|19|20)\d\d[a-d]?)\b(?(2)\)?)"
)
"""A citation: ``Name (year)``, and within parentheses ``(Name year; Name year)``."""


def works(text: str) -> set[str]:
    """The works that `text` cites, each as ``Name (year)``; no line of it is indented."""
    return {_label(found) for found in WORK.finditer(text)}


def linked(text: str, references: str) -> str:
    """`text` with its citations as links.

    Args:
        text: Markdown.
        references: relative address of the page of references.
    """
    return WORK.sub(lambda found: f"[{found.group()}]({references}#{work_anchor(_label(found))})", text)


def work_anchor(label: str) -> str:
    """The anchor of a work on its page: ``Sun et al. (2023a)`` is ``sun-2023a``."""
    return re.sub(r"\W+", "-", label.lower().replace(" et al.", "").replace(" and ", " ")).strip("-")


def _label(found: re.Match[str]) -> str:
    return f"{' '.join(found.group(1).split())} ({found.group(3)})"
