"""Every section of the papers' settings that code cites is there."""

from __future__ import annotations

import re

from docs.generator.markdown_text import CITATION, anchor
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


def test_every_citation_leads_to_a_section() -> None:
    assert len(cited()) >= 30
    assert [pair for pair in cited() if anchor(pair[1]) not in ANCHORS] == []


def test_the_settings_link_and_name_only_what_is_in_the_project() -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", SETTINGS)
    assert [link for link in links if not (ROOT / "docs" / "papers" / link).exists()] == []
    assert "shared/" not in SETTINGS
    assert sum(line.startswith("|") for line in SETTINGS.splitlines()) > 150
