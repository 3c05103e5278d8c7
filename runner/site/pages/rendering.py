"""Templates of the pages, and how their values are written."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from runner.site.content.script_json import script_json
from runner.store.run_folder import STATUSES


@functools.cache
def templates() -> Environment:
    """The environment that all pages are rendered in."""
    found = Environment(
        loader=PackageLoader("runner.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "script_json": script_json,
        "note_id": note_id,
        "moment": moment,
        "value": value_text,
        "zip": lambda one, other: zip(one, other, strict=True),
    }
    return found


def render(template: str, **values: Any) -> str:
    """The page that `template` makes of `values`."""
    return templates().get_template(template).render(**values)


def note_id(mark: str) -> str:
    """The anchor of the note that explains a mark."""
    return f"note-{mark}" if mark.isalpha() else f"mark-{ord(mark)}"


def moment(time: str | None) -> str:
    """``2026-01-02 03:04 UTC`` of a time in UTC and ISO 8601; empty where there is none."""
    return f"{time[:16].replace('T', ' ')} UTC" if time else ""


def value_text(value: Any) -> str:
    """A setting or a measured value, with at most seven digits."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.7g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return f"[{', '.join(value_text(each) for each in value)}]"
    return str(value)


def html_of_markdown(text: str) -> Markup:
    """A reading as HTML, its headings one level lower; HTML in it is shown as text."""
    tokens = (parser := MarkdownIt("commonmark", {"html": False}).enable("table")).parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def counts_in_order(statuses: Iterable[str]) -> dict[str, int]:
    """How many have each status, the finished ones first."""
    found = list(statuses)
    return {status: found.count(status) for status in STATUSES if status == "done" or status in found}
