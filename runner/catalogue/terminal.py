"""How the catalogue is printed: as wide as the terminal, or a line for each row where there is none."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDE_ENOUGH = 10_000


def console() -> Console:
    """Prints text as it stands."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else WIDE_ENOUGH
    return Console(width=width, markup=False, emoji=False, highlight=False)


def without_code_marks(text: str) -> str:
    """A docstring's text without the marks of its code spans."""
    return re.sub(r"(`{1,2})([^`]+)\1", r"\2", text)
