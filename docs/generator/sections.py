"""Parts that the reference pages share: a page, a section with its table of keys, and lookups in conf/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docs.generator.docstrings import Docstring, cell, docstring, located, markdown
from docs.generator.yaml_files import Key, content, included

SETTINGS = "../papers/settings.md"
INTRODUCTIONS = Path(__file__).parent / "introductions"


def introduction(name: str) -> str:
    """The hand-written text at the head of a generated page."""
    return (INTRODUCTIONS / f"{name}.md").read_text().strip()


def page(title: str, text: str, head: str, rows: list[str], sections: list[str]) -> str:
    """A page: its introduction, a table of all names, a section for each."""
    return "\n".join([f"# {title}", "", text, "", head, *rows, "", *sections])


def section(
    name: str,
    prefix: str,
    thing: Any,
    paragraphs: list[str],
    settings: list[Key],
    arguments: dict[str, str],
) -> str:
    """A section: its paragraphs, the table of keys, and where the source is.

    Args:
        name: heading and anchor.
        prefix: what stands before a key on the command line, such as ``sampler``.
        thing: the class or function behind it; None where there is none.
        paragraphs: Markdown.
        settings: the keys.
        arguments: what the docstring says of each argument, for keys without a comment.
    """
    lines = [f"## {name} {{ #{name} }}", ""]
    for paragraph in paragraphs:
        lines += [paragraph, ""] if paragraph else []
    if settings:
        lines += ["| key | default | meaning |", "| :-- | :-- | :-- |"]
        for key in settings:
            meaning = cell(key.comment or arguments.get(key.path.rsplit(".", 1)[-1], ""))
            default = f"`{key.default}`".replace("|", "\\|") if key.default else ""
            lines.append(f"| `{prefix}.{key.path}` | {default} | {meaning} |")
        lines.append("")
    if thing is not None:
        lines += [f"Source: `{thing.__module__}.{thing.__qualname__}`", ""]
    return "\n".join(lines)


def prose(described: Docstring) -> list[str]:
    """Summary and body of a docstring as paragraphs."""
    return [markdown(described.summary, SETTINGS), markdown(described.body, SETTINGS)]


def names(conf: Path, group: str) -> list[str]:
    """The names that a group offers."""
    return sorted(path.stem for path in (conf / group).glob("*.yaml"))


def described(conf: Path, group: str, name: str) -> tuple[Any, Docstring]:
    """The class or function behind a configuration, and its docstring."""
    thing = located(_target_of(conf, group, name))
    return thing, docstring(thing)


def _target_of(conf: Path, group: str, name: str) -> str:
    """The ``_target_`` of a configuration, its own or that of a file that it includes at its own place."""
    entry = content(conf / group / f"{name}.yaml")
    if "_target_" in entry:
        return str(entry["_target_"])
    for one in included(conf, group, name):
        if not one.prefix:
            return _target_of(conf, one.group, one.name)
    raise LookupError(f"conf/{group}/{name}.yaml names no class")


def inner_kernel(conf: Path, name: str) -> Any:
    """The class of the kernel that a tempered sampler wraps; None for any other."""
    kernel = content(conf / "sampler" / f"{name}.yaml").get("kernel")
    if isinstance(kernel, dict) and "_target_" in kernel:
        return located(kernel["_target_"])
    for one in included(conf, "sampler", name):
        if one.prefix == "kernel.":
            return located(_target_of(conf, one.group, one.name))
    return None
