"""Every section of the papers' settings that code cites is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generator.docstrings import CITATION, anchor
from tests.docs.pages import ROOT

SETTINGS = (ROOT / "docs" / "papers" / "settings.md").read_text()
ANCHORS = set(re.findall(r"(?:\{ #|<a id=\")(\w+)", SETTINGS))
FOLDERS = ("targets", "samplers", "metrics", "runner", "conf", "tests", "docs")


def cited() -> list[tuple[str, str]]:
    """Every citation in the project: file and section."""
    files = [
        path for name in FOLDERS for kind in ("py", "yaml", "md") for path in (ROOT / name).rglob(f"*.{kind}")
    ]
    return sorted(
        {
            (str(path.relative_to(ROOT)), section)
            for path in files
            for pair in CITATION.findall(path.read_text())
            for section in pair
            if section
        }
    )


def test_there_are_citations() -> None:
    assert len(cited()) >= 30


@pytest.mark.parametrize(("path", "section"), cited())
def test_a_citation_leads_to_a_section(path: str, section: str) -> None:
    assert anchor(section) in ANCHORS


def test_the_page_names_nothing_outside_the_project() -> None:
    assert "shared/" not in SETTINGS
    rows = [line for line in SETTINGS.splitlines() if line.startswith("|")]
    assert len(rows) > 150


@pytest.mark.parametrize("line", [line for line in SETTINGS.splitlines() if "](" in line])
def test_its_links_lead_to_pages(line: str) -> None:
    for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", line):
        assert (ROOT / "docs" / "papers" / Path(link)).exists()
