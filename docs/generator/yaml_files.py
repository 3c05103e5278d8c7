"""Keys, defaults and comments of a YAML file in conf/, read without composing it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HIDDEN = {"name", "_target_", "defaults", "_optional_", "prefix"}
"""Keys that are part of the mechanism and no setting of the user's."""


@dataclass(frozen=True)
class Key:
    """A setting: its path below the group (``swap.rule``), its default as written, and its comment."""

    path: str
    default: str
    comment: str


def header(path: Path) -> str:
    """The comment above the first key, as one paragraph; empty if there is none."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        if not line.startswith("# @package"):
            lines.append(line.lstrip("# ").rstrip())
    return " ".join(" ".join(lines).split())


def content(path: Path) -> dict[str, Any]:
    """The file as plain values."""
    loaded = yaml.safe_load(path.read_text())
    return loaded if isinstance(loaded, dict) else {}


def keys(path: Path) -> list[Key]:
    """Every setting of the file, in its order."""
    text = path.read_text()
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    return list(_walk(root, text.splitlines(), "")) if isinstance(root, yaml.MappingNode) else []


def _walk(node: yaml.MappingNode, lines: list[str], prefix: str) -> Iterator[Key]:
    for name, value in node.value:
        if name.value in HIDDEN or name.value.startswith("override "):
            continue
        path = f"{prefix}{name.value}"
        if isinstance(value, yaml.MappingNode):
            comment = _comment(lines, name.end_mark)
            if comment:
                yield Key(path, "", comment)
            yield from _walk(value, lines, f"{path}.")
        else:
            written = " ".join(lines_of(lines, value))
            yield Key(path, written, _comment(lines, value.end_mark))


def lines_of(lines: list[str], node: yaml.Node) -> list[str]:
    """A node's text, one stripped string per line."""
    first, last = node.start_mark, node.end_mark
    if first.line == last.line:
        return [lines[first.line][first.column : last.column]]
    whole = [lines[first.line][first.column :], *lines[first.line + 1 : last.line]]
    tail = lines[last.line][: last.column] if last.line < len(lines) else ""
    return [re.sub(r"\s+# .*", "", line).strip() for line in [*whole, tail] if line.strip()]


def _comment(lines: list[str], mark: yaml.Mark) -> str:
    rest = lines[mark.line][mark.column :] if mark.line < len(lines) else ""
    found = re.match(r"[\s:}\],]*#\s*(.*)", rest)
    return found.group(1).strip() if found else ""


def all_keys(conf: Path, group: str, name: str) -> list[Key]:
    """The settings of a configuration with those of the files that its ``defaults`` list includes.

    Args:
        conf: the folder conf/.
        group: the group's folder below it.
        name: the file's name without its suffix.
    """
    path = conf / group / f"{name}.yaml"
    merged: dict[str, Key] = {}
    for one in included(conf, group, name):
        for key in all_keys(conf, one.group, one.name):
            merged[f"{one.prefix}{key.path}"] = Key(f"{one.prefix}{key.path}", key.default, key.comment)
    for key in keys(path):
        inherited = merged.get(key.path)
        comment = key.comment or (inherited.comment if inherited else "")
        merged[key.path] = Key(key.path, key.default, comment)
    return list(merged.values())


@dataclass(frozen=True)
class Included:
    """A file that a ``defaults`` list includes: where its keys go (``kernel.``), its group and its name."""

    prefix: str
    group: str
    name: str


def included(conf: Path, group: str, name: str) -> list[Included]:
    """The files that the ``defaults`` list of a configuration includes, in its order."""
    found = []
    for entry in content(conf / group / f"{name}.yaml").get("defaults", []):
        (where, value) = next(iter(entry.items())) if isinstance(entry, dict) else (None, entry)
        place, _, package = str(where or value).partition("@")
        if where is None:
            place, _, value = place.rpartition("/")
        place = place.removeprefix("override ").removeprefix("optional ")
        folder = place.removeprefix("/") if place.startswith("/") else "/".join(filter(None, (group, place)))
        prefix = "" if package in ("", "_here_", "_global_") else f"{package}."
        if isinstance(value, str) and (conf / folder / f"{value}.yaml").exists():
            found.append(Included(prefix, folder, value))
    return found
