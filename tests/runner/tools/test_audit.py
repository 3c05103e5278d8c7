"""Every finding of the audit, and the command that writes them down."""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path

import pytest
from PIL import Image

from runner.execution.command_line import reported
from runner.tools.audit.audit_command import main
from runner.tools.audit.audit_page import audit_csv, audit_markdown, audit_summary
from runner.tools.audit.finding import Basis, Figure, Finding, MeasuredFinding, at_least, at_most, near
from runner.tools.audit.findings import FINDINGS


@cache
def figures_of(key: str) -> tuple[Figure, ...]:
    """The figures of a finding, measured once for all tests."""
    return tuple(next(finding for finding in FINDINGS if finding.key == key).measure())


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.key)
def test_every_figure_agrees(finding: Finding) -> None:
    for figure in figures_of(finding.key):
        assert figure.holds, f"{figure.name}: {figure.measured} is not {figure.expected.text}"


def test_keys_are_unique_and_every_finding_has_a_method() -> None:
    assert len({finding.key for finding in FINDINGS}) == len(FINDINGS)
    assert all(finding.method and "tests/" not in finding.method for finding in FINDINGS)


def test_what_is_not_stated_says_so() -> None:
    """A figure that was fitted, or is not the notes', never stands without a note."""
    for finding in FINDINGS:
        weak = [f for f in figures_of(finding.key) if f.basis is Basis.FITTED or f.stated is not None]
        assert finding.note or not weak, finding.key


def outcome(*figures: Figure, note: str = "") -> MeasuredFinding:
    return MeasuredFinding(
        Finding("key", "A | title", "where", "source", "by counting", note, lambda: figures), figures, 0.1
    )


def test_intervals_hold_their_ends_and_no_nan() -> None:
    assert near(0.5, 0.25).holds(0.25)
    assert near(0.5, 0.25).holds(0.75)
    assert not near(0.5, 0.25).holds(0.76)
    assert at_most(1.0).holds(1.0)
    assert not at_most(1.0).holds(1.1)
    assert at_least(1.0).holds(1.0)
    assert not at_least(1.0).holds(0.9)
    for expected in (near(0.5, 0.25), at_most(1.0), at_least(1.0)):
        assert not expected.holds(math.nan)
    assert near(3, 0).text == "3"


def test_a_verdict_is_no_better_than_its_weakest_figure() -> None:
    agrees, fails = Figure("a", near(1, 0.1), 1.05), Figure("b", near(1, 0.1), 1.2)
    fitted = Figure("c", near(1, 0.1), 1.0, basis=Basis.FITTED)
    another = Figure("d", at_least(0.5), 1.0, basis=Basis.BOUND, stated=2.0)
    assert outcome(agrees).verdict == "reproduced"
    assert outcome(agrees, fitted).verdict == "setting fitted"
    assert outcome(agrees, fitted, another).verdict == "in part"
    assert outcome(agrees, fitted, another, fails).verdict == "FAILS"
    assert [f.standing for f in (agrees, fitted, another, fails)] == [
        "agrees",
        "fitted",
        "not the notes' figure",
        "FAILS",
    ]
    counted = audit_summary([outcome(agrees, fitted), outcome(another, fails)])
    assert counted.startswith("0 of 2 findings reproduced in full. Of 4 figures: 1 agree")


def test_reports_hold_every_figure() -> None:
    outcomes = [outcome(Figure("a", near(1, 0.1), 1.05, 0.02), Figure("b", at_most(2), 3.0), note="Chosen.")]
    rows = list(csv.DictReader(audit_csv(outcomes).splitlines()))
    assert [row["figure"] for row in rows] == ["a", "b"]
    assert [row["standing"] for row in rows] == ["agrees", "FAILS"]
    assert float(rows[0]["measured"]) == 1.05
    assert float(rows[0]["low"]) == pytest.approx(0.9)
    page = audit_markdown(outcomes)
    assert "| 1. A &#124; title | where | a | 1 ± 0.1 | 1.05 (se 0.02) | agrees | by counting |" in page
    assert "A | title: Chosen." in page


def test_the_command_writes_a_table_a_page_and_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from runner.tools.audit import findings

    def of(key: str) -> Finding:
        return next(finding for finding in FINDINGS if finding.key == key)

    bars = tuple(Figure(name, near(0.2, 0.1), 0.2) for name in ("Metropolis", "released rule"))
    drawn = [
        Finding(key, key, "where", "source", "by counting", "", lambda: bars)
        for key in ("sixteen-states-dmala", "sixteen-states-dula")
    ]
    chosen = [of("printed-rules"), of("released-rule"), *drawn]
    monkeypatch.setattr(findings, "FINDINGS", chosen)
    assert main([f"output_root={tmp_path}"]) == 0
    said = capsys.readouterr().out
    for word in ("expected", "measured", "v2 Eq. 5 (history)", "setting fitted", str(tmp_path)):
        assert word in said
    folder = tmp_path / "audit"
    assert {path.name for path in folder.iterdir()} == {"audit.csv", "audit.md", "swap_rules.png"}
    with Image.open(folder / "swap_rules.png") as image:
        assert image.width > 1000
    failing = Finding(
        "key", "title", "where", "source", "by counting", "", lambda: [Figure("a", at_most(1), 2.0)]
    )
    monkeypatch.setattr(findings, "FINDINGS", [*chosen, failing])
    assert main([f"output_root={tmp_path}"]) == 1


@pytest.mark.parametrize("argument", ["outptu_root=x", "output_root", "output_root=", "fast"])
def test_a_wrong_argument_is_one_sentence(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(lambda: main([argument])) == 2
    error = capsys.readouterr().err
    assert argument in error
    assert error.count("\n") == 1
