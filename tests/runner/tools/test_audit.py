"""Every finding of the audit, and the command that writes them down."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from PIL import Image

from runner.execution.command_line import reported
from runner.tools.audit import findings
from runner.tools.audit.audit_command import main
from runner.tools.audit.audit_page import audit_csv, audit_markdown, audit_summary
from runner.tools.audit.defects import sixteen_states, twelve_states
from runner.tools.audit.finding import Basis, Figure, Finding, MeasuredFinding, at_least, at_most, near
from runner.tools.audit.findings import FINDINGS


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.key)
def test_every_figure_agrees(finding: Finding, monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure that was fitted, or is not the notes', never stands without a note."""
    monkeypatch.setattr(sixteen_states, "STEPS", 1_000)
    for figure in finding.measure():
        assert figure.holds, f"{figure.name}: {figure.measured} is not {figure.expected.text}"
        assert finding.note or (figure.basis is not Basis.FITTED and figure.stated is None), figure.name
    assert finding.method
    assert "tests/" not in finding.method
    assert [other.key for other in FINDINGS].count(finding.key) == 1


@pytest.mark.slow
@pytest.mark.parametrize("finding", [sixteen_states.around_dmala, sixteen_states.around_dula])
def test_every_figure_agrees_at_full_length(finding: Finding) -> None:
    assert all(figure.holds for figure in finding.measure())


def counted(*figures: Figure, key: str = "key", note: str = "") -> Finding:
    return Finding(key, "A | title", "where", "source", "by counting", note, lambda: figures)


def outcome(*figures: Figure, note: str = "") -> MeasuredFinding:
    return MeasuredFinding(counted(*figures, note=note), figures, 0.1)


def test_intervals_hold_their_ends_and_no_nan() -> None:
    held = {near(0.5, 0.25): (0.25, 0.75), at_most(1.0): (-9.0, 1.0), at_least(1.0): (1.0, 9.0)}
    outside = {near(0.5, 0.25): (0.24, 0.76), at_most(1.0): (1.1,), at_least(1.0): (0.9,)}
    for expected, values in held.items():
        assert all(expected.holds(value) for value in values)
        assert not any(expected.holds(value) for value in (*outside[expected], math.nan))
    assert near(3, 0).text == "3"


def test_a_verdict_is_no_better_than_its_weakest_figure() -> None:
    agrees, fails = Figure("a", near(1, 0.1), 1.05), Figure("b", near(1, 0.1), 1.2)
    fitted = Figure("c", near(1, 0.1), 1.0, basis=Basis.FITTED)
    another = Figure("d", at_least(0.5), 1.0, basis=Basis.BOUND, stated=2.0)
    assert outcome(agrees).verdict == "reproduced"
    assert outcome(agrees, fitted).verdict == "setting fitted"
    assert outcome(agrees, fitted, another).verdict == "in part"
    assert outcome(agrees, fitted, another, fails).verdict == "FAILS"
    standings = ["agrees", "fitted", "not the notes' figure", "FAILS"]
    assert [figure.standing for figure in (agrees, fitted, another, fails)] == standings
    said = audit_summary([outcome(agrees, fitted), outcome(another, fails)])
    assert said.startswith("0 of 2 findings reproduced in full. Of 4 figures: 1 agree")


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
    bars = [Figure(name, near(0.2, 0.1), 0.2) for name in ("Metropolis", "released rule")]
    drawn = [counted(*bars, key=key) for key in ("sixteen-states-dmala", "sixteen-states-dula")]
    chosen = [twelve_states.printed_rules, twelve_states.released_rule, *drawn]
    monkeypatch.setattr(findings, "FINDINGS", chosen)
    assert main([f"output_root={tmp_path}"]) == 0
    said = capsys.readouterr().out
    for word in ("expected", "measured", "v2 Eq. 5 (history)", "setting fitted", str(tmp_path)):
        assert word in said
    folder = tmp_path / "audit"
    assert {path.name for path in folder.iterdir()} == {"audit.csv", "audit.md", "swap_rules.png"}
    with Image.open(folder / "swap_rules.png") as image:
        assert image.width > 1000
    monkeypatch.setattr(findings, "FINDINGS", [*chosen, counted(Figure("a", at_most(1), 2.0))])
    assert main([f"output_root={tmp_path}"]) == 1


@pytest.mark.parametrize("argument", ["outptu_root=x", "output_root", "output_root=", "fast"])
def test_a_wrong_argument_is_one_sentence(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(lambda: main([argument])) == 2
    error = capsys.readouterr().err
    assert argument in error
    assert error.count("\n") == 1
