"""The code blocks of README.md and the pages in docs/."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from runner.command.subcommands import COMMANDS

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "docs" / "generator"
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if GENERATOR not in path.parents),
]


@dataclass(frozen=True)
class Command:
    """One line of a bash block: the page it is on, relative to the project, and its words."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {shlex.join(self.words)}"


def blocks(page: Path, language: str) -> list[str]:
    """The page's code blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def by_module(words: list[str]) -> list[str]:
    """`words`, with ``rungwise table`` as ``python -m runner.table``."""
    if words[0] != "rungwise":
        return words
    module, _ = COMMANDS[words[1]]
    return ["python", "-m", module.removesuffix(".__main__"), *words[2:]]


def commands() -> list[Command]:
    """Every command of every bash block, comments removed."""
    return [
        Command(str(page.relative_to(ROOT)), tuple(by_module(words)))
        for page in PAGES
        for block in blocks(page, "bash")
        for line in block.splitlines()
        if (words := shlex.split(line, comments=True))
    ]


def examples() -> dict[str, str]:
    """The files that the pages show: path to text."""
    found: dict[str, str] = {}
    for page in PAGES:
        for path, text in re.findall(
            r"<!-- example: (\S+) -->\n```\w+\n(.*?)```", page.read_text(), re.DOTALL
        ):
            assert found.setdefault(path, text) == text, f"{path} is shown twice, with different texts"
    return found
