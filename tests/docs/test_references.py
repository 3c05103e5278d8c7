"""docs/references.md has every work that is cited, once, and no other."""

from __future__ import annotations

import re

import pytest

from docs.generator.works import work_anchor, works
from tests.docs.pages import ROOT

FOLDERS = ("targets", "samplers", "metrics", "runner", "conf", "tests", "docs")
LIST = ROOT / "docs" / "references.md"
_, PART = LIST.read_text().split("\n## Works cited")
ENTRIES = re.findall(r'^\| <a id="([\w-]+)"></a>([^|]+) \| ([^|]+) \|', PART, re.MULTILINE)


def on_one_line(text: str) -> str:
    """`text` without the line breaks, indentation and hash signs of its comments and docstrings."""
    return re.sub(r"\s*\n\s*(?:# )?", " ", text)


def cited() -> dict[str, str]:
    """The works that the project cites, and a file that does it."""
    files = (
        path
        for name in FOLDERS
        for kind in ("py", "yaml", "md")
        for path in (ROOT / name).rglob(f"*.{kind}")
        if path != LIST
    )
    return {
        work: str(path.relative_to(ROOT)) for path in files for work in works(on_one_line(path.read_text()))
    }


def test_every_work_cited_is_in_the_list_and_nothing_else() -> None:
    found, listed = cited(), {label for _, label, _ in ENTRIES}
    assert len(found) > 80
    assert {work: path for work, path in found.items() if work not in listed} == {}
    assert listed - set(found) == set()


def test_the_list_has_each_work_once_by_name_with_a_title() -> None:
    anchors = [anchor for anchor, _, _ in ENTRIES]
    assert anchors == [work_anchor(label) for _, label, _ in ENTRIES]
    assert anchors == sorted(set(anchors))
    assert [label for _, label, work in ENTRIES if not re.search(r'"[^"]+"|\*[^*]+\*', work)] == []


@pytest.mark.parametrize(
    ("form", "label"),
    [
        ("Source: Doe ({}), Eq. 1.", "Doe ({})"),
        ("(Doe {})", "Doe ({})"),
        ("(STMH, Eq. 2; Doe {}b)", "Doe ({}b)"),
        ("as in Doe, Poe-Roe and Low {}", "Doe, Poe-Roe and Low ({})"),
        ("    of Doe et\n    al. ({}).", "Doe et al. ({})"),
        ("# DISCS (Doe and\n# Roe {})", "Doe and Roe ({})"),
    ],
)
def test_a_citation_is_found_in_any_form(form: str, label: str) -> None:
    assert works(on_one_line(form.format(1999))) == {label.format(1999)}


def test_other_numbers_and_dates_are_no_citations() -> None:
    text = "until May 2027; 2048 rows; Python 3.12 (2023); `TSPLIB 1995`; Table (20); seed 1999"
    assert works(text) == set()
