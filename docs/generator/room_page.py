"""The page of rooms: the folders of the four floors with their docstrings, in the order of import-linter."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

from docs.generator.markdown_text import markdown
from docs.generator.sections import introduction

FLOORS = ("runner", "metrics", "samplers", "targets")
DOCS = ""
"""The folder docs/, from the page."""


def rooms(root: Path) -> str:
    """The page, highest floor first."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    order = {
        container: [line.split("|") for line in contract["layers"]]
        for contract in contracts
        for container in contract.get("containers", [])
    }
    lines = ["# Rooms", "", introduction("rooms"), ""]
    for floor in FLOORS:
        lines += [
            f"## {floor} {{ #{floor} }}",
            "",
            markdown(_docstring(root / floor / "__init__.py"), DOCS),
            "",
        ]
        lines += ["| room | what is in it |", "| :-- | :-- |"]
        for layer in order.get(floor, []):
            names = [name.strip() for name in layer]
            texts = [_first_sentence(root / floor, name) for name in names]
            shown = "<br>".join(f"`{name}`" for name in names)
            described = "<br>".join(markdown(text, DOCS) for text in texts)
            lines.append(f"| {shown} | {described} |")
        lines.append("")
    return "\n".join(lines)


def _first_sentence(floor: Path, room: str) -> str:
    folder = floor / room / "__init__.py"
    text = _docstring(folder if folder.exists() else floor / f"{room}.py")
    return " ".join(text.split("\n\n")[0].split())


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or "" if path.exists() else ""
