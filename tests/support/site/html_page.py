"""What is on a page of the report: its links, anchors, tables, data and text."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any


@dataclass
class TableCell:
    """A cell: its text, what it is sorted by, its classes, and what is said of its number."""

    text: str = ""
    order: str | None = None
    classes: tuple[str, ...] = ()
    hover: str = ""


@dataclass
class HtmlPage(HTMLParser):
    """A parsed page.

    Attributes:
        links: every address that it names.
        anchors: every id.
        tables: rows of cells, table by table.
        data: what its scripts of JSON hold.
        text: all text that is shown.
    """

    path: Path
    links: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    tables: list[list[list[TableCell]]] = field(default_factory=list)
    data: list[Any] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self._script = ""
        self._cell: TableCell | None = None
        self.feed(self.path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        self.links += [own[name] for name in ("href", "src") if name in own]
        self.anchors += [own["id"]] if "id" in own else []
        if tag == "script":
            self._script = own.get("type", "text/javascript")
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self._cell = TableCell(order=own.get("data-order"), classes=tuple(own.get("class", "").split()))
            self.tables[-1][-1].append(self._cell)
        elif self._cell is not None and tag in ("span", "strong") and "title" in own:
            self._cell.hover = own["title"]

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = ""
        elif tag in ("td", "th"):
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._script == "application/json":
            self.data.append(json.loads(data))
        elif not self._script:
            self.text += data
            if self._cell is not None:
                self._cell.text += data


def script_data(path: Path) -> list[Any]:
    """What a script of data hands to its function."""
    text = path.read_text().strip().removesuffix(");")
    content: list[Any] = json.loads(f"[{text.partition('(')[2]}]")
    return content
