"""Parts that the reference pages share: a page, and a section with its table of keys."""

from __future__ import annotations

from pathlib import Path

from docs.generator.markdown_text import cell, markdown
from runner.catalogue.docstrings import Docstring
from runner.catalogue.entries import Entry

DOCS = "../"
"""The folder docs/, from a page of its folder reference/."""
INTRODUCTIONS = Path(__file__).parent / "introductions"


def introduction(name: str) -> str:
    """The hand-written text at the head of a generated page."""
    return (INTRODUCTIONS / f"{name}.md").read_text().strip()


def page(title: str, text: str, head: str, rows: list[str], sections: list[str]) -> str:
    """A page: its introduction, a table of all names, a section for each."""
    return "\n".join([f"# {title}", "", text, "", head, *rows, "", *sections])


def section(entry: Entry, prefix: str, paragraphs: list[str]) -> str:
    """The section of a name: its paragraphs, the table of keys, and where the source is.

    Args:
        entry: what stands behind the name.
        prefix: what stands before a key on the command line, such as ``sampler``.
        paragraphs: Markdown.
    """
    lines = [f"## {entry.name} {{ #{entry.name} }}", ""]
    for paragraph in paragraphs:
        lines += [paragraph, ""] if paragraph else []
    if entry.keys:
        lines += ["| key | default | meaning |", "| :-- | :-- | :-- |"]
        for key in entry.keys:
            default = f"`{key.default}`".replace("|", "\\|") if key.default else ""
            lines.append(f"| `{prefix}.{key.path}` | {default} | {cell(entry.meaning(key))} |")
        lines.append("")
    if entry.source is not None:
        lines += [f"Source: `{entry.source.module}.{entry.source.name}`", ""]
    return "\n".join(lines)


def prose(described: Docstring) -> list[str]:
    """Summary, body and facts of a docstring as paragraphs."""
    facts = [f"{name}: {said}." for name, said in described.facts.items()]
    return [markdown(text, DOCS) for text in (described.summary, described.body, " ".join(facts))]
