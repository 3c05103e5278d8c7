"""The page of main findings: each number, signs aside, stands in a record that its section links to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runner.verdicts.readings.texts import READING, SHOWN, unsourced, unused

ROOT = Path(__file__).parents[3]
RECORD = ROOT / "outputs" / "record"
PAGE = (ROOT / "docs" / "results" / "findings.md").read_text()
SECTIONS = {part.partition("\n")[0]: part.partition("\n## ")[0] for part in re.split(r"(?m)^### ", PAGE)[1:]}
LINK = re.compile(r"\]\([a-z-]+\.md#([a-z0-9_-]+)\)")


def sources(section: str) -> list[str]:
    """Tables, manifests and readings of the linked records."""
    folders = [RECORD / name for name in LINK.findall(section)]
    paths = [folder / name for folder in folders for name in (*SHOWN, READING)]
    return [path.read_text() for path in paths if path.exists()]


@pytest.mark.parametrize("title", SECTIONS)
def test_every_number_of_a_finding_is_in_a_record_that_it_links_to(title: str) -> None:
    assert unsourced(SECTIONS[title], sources(SECTIONS[title])) == []
    assert unused(SECTIONS[title]) == []


def test_links_to_records_name_records() -> None:
    names = LINK.findall(PAGE)
    assert len(names) > 40
    pages = ("table.md", "bench.md")
    assert [name for name in names if not any((RECORD / name / page).exists() for page in pages)] == []


def test_a_number_of_nowhere_is_found() -> None:
    """The mutants: another number, and the right one without the record or the comment that has it."""
    section = SECTIONS["Does tempering pay on mixtures?"]
    held = sources(section)
    assert unsourced(section.replace("0.0156", "0.0999"), held) == ["0.0999"]
    assert "0.0156" in unsourced(section, [])
    assert unsourced(re.sub("<!--.*?-->", "", section), held) == ["1000"]
