"""Keys, defaults and comments of the YAML files in conf/ and beside it, read without composing them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import conf
from runner.execution.command_line import own_folder
from runner.execution.errors import unknown
from runner.files.plain_yaml import plain_yaml

HIDDEN = {"name", "_target_", "defaults", "_optional_", "prefix"}
"""Keys that are part of the mechanism and no setting of the user's."""


@dataclass(frozen=True)
class Key:
    """A setting: its path below the group (``swap.rule``), its default as written, and its comment."""

    path: str
    default: str
    comment: str


@dataclass(frozen=True)
class Included:
    """A file that a ``defaults`` list includes: where its keys go (``kernel.``), its group and its name."""

    prefix: str
    group: str
    name: str


class Groups:
    """The configuration groups in one folder or more; a name in several is that of the first.

    Args:
        folders: conf/ and then the user's own.
    """

    def __init__(self, *folders: Path) -> None:
        self.folders = folders

    @property
    def ours(self) -> Groups:
        """Those of the project alone: data sets have no others, and make knows no other experiments."""
        return Groups(self.folders[0])

    def names(self, group: str) -> list[str]:
        """The names that a group offers; without one, those of the files beside the groups."""
        return sorted({path.stem for folder in self.folders for path in (folder / group).glob("*.yaml")})

    def groups(self) -> list[str]:
        """The groups that there are."""
        return sorted({path.parent.name for folder in self.folders for path in folder.glob("*/*.yaml")})

    def path(self, group: str, name: str) -> Path:
        """The file of a name.

        Raises:
            UserError: if there is none; with the nearest name.
        """
        if name not in (names := self.names(group)):
            raise unknown(group, name, names)
        files = (folder / group / f"{name}.yaml" for folder in self.folders)
        return next(path for path in files if path.exists())

    def header(self, group: str, name: str) -> str:
        """What the comment above the first key says."""
        return header(self.path(group, name))

    def content(self, group: str, name: str) -> dict[str, Any]:
        """The file of a name as plain values."""
        loaded = plain_yaml(self.path(group, name).read_bytes())
        return loaded if isinstance(loaded, dict) else {}

    def all_keys(self, group: str, name: str) -> list[Key]:
        """The settings of a name with those of the files that its ``defaults`` list includes."""
        merged: dict[str, Key] = {}
        for one in self.included(group, name):
            for key in self.all_keys(one.group, one.name):
                merged[f"{one.prefix}{key.path}"] = Key(f"{one.prefix}{key.path}", key.default, key.comment)
        for key in keys(self.path(group, name)):
            inherited = merged.get(key.path)
            comment = key.comment or (inherited.comment if inherited else "")
            merged[key.path] = Key(key.path, key.default, comment)
        return list(merged.values())

    def included(self, group: str, name: str) -> list[Included]:
        """The files that the ``defaults`` list of a name includes, in its order."""
        found = []
        for entry in self.content(group, name).get("defaults", []):
            (where, value) = next(iter(entry.items())) if isinstance(entry, dict) else (None, entry)
            place, _, package = str(where or value).partition("@")
            if where is None:
                place, _, value = place.rpartition("/")
            place = place.removeprefix("override ").removeprefix("optional ")
            inside = "/".join(filter(None, (group, place)))
            folder = place.removeprefix("/") if place.startswith("/") else inside
            prefix = "" if package in ("", "_here_", "_global_") else f"{package}."
            if isinstance(value, str) and value in self.names(folder):
                found.append(Included(prefix, folder, value))
        return found


def known_groups(config_dir: str | None) -> Groups:
    """Those of the project, and of the folder of ``--config-dir`` where one is given.

    Raises:
        UserError: as `own_folder`.
    """
    ours = Path(conf.__path__[0])
    if config_dir is None:
        return Groups(ours)
    return Groups(ours, own_folder(config_dir))


def header(path: Path) -> str:
    """The comment above the first key, as one paragraph; empty if there is none."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        if not line.startswith("# @package"):
            lines.append(line.lstrip("# ").rstrip())
    return " ".join(" ".join(lines).split())


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
            written = " ".join(node_lines(lines, value))
            yield Key(path, written, _comment(lines, value.end_mark))


def node_lines(lines: list[str], node: yaml.Node) -> list[str]:
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
