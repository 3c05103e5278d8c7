"""The readings: no number without a source, none that its source does not have."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from runner.execution.errors import UserError
from runner.files.atomic_files import write_json
from runner.store.folder_digests import DIGESTS
from runner.verdicts.__main__ import main
from runner.verdicts.readings.texts import (
    READING,
    fill_readings,
    filled,
    reading_text,
    readings,
    unfounded,
    unused,
)

RECORD = Path(__file__).parents[4] / "outputs" / "record"
TABLE = "pt_table1_quick"
SOURCE = "PT-DMALA | MoG, c = 8 | mmd_exact"


@pytest.mark.parametrize("folder", readings(RECORD), ids=lambda folder: folder.name)
def test_every_number_of_a_reading_has_a_source(folder: Path) -> None:
    assert unfounded(folder) == []
    assert unused((folder / READING).read_text()) == []


@pytest.mark.parametrize("folder", readings(RECORD), ids=lambda folder: folder.name)
def test_every_row_of_a_table_in_a_reading_has_as_many_cells_as_its_head(folder: Path) -> None:
    """As a viewer of Markdown divides it: a bar in a comment ends a cell, too, unless it is escaped."""
    width = 0
    for line in (folder / READING).read_text().splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert not cells or cells == (width or cells), line
        width = cells


@pytest.fixture
def folder(root: Path) -> Path:
    return root / "record" / TABLE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"0.999<!-- {SOURCE} -->", "0.061"),
        (f"9<!-- {SOURCE} | n -->", "10"),
        (f"0.00<!-- {SOURCE} | margin -->", "0.02"),
        (f"0.999<!-- {SOURCE} -->".replace("|", r"\|"), "0.061"),
        ("1.00<!-- DMALA / DMALA | MoG, c = 8 | kl -->", "1.00"),
        ("9,999.0<!-- uniform draws / PT-DMALA | MoG, c = 8 | mmd_exact -->", "872.4"),
        (f"9.0e2<!-- {SOURCE} -->", "6.1e-2"),
        ("9.0e2<!-- DMALA / DMALA | MoG, c = 8 | kl -->", "1.0e0"),
        ("9.0e2<!-- uniform draws / PT-DMALA | MoG, c = 8 | mmd_exact -->", "8.7e2"),
    ],
)
def test_a_number_is_that_of_its_source(folder: Path, text: str, expected: str) -> None:
    (folder / READING).write_text(f"# Title\n\nIt is {text}.\n")
    assert filled(folder) == f"# Title\n\nIt is {expected}{text[text.index('<') :]}.\n"
    assert bool(unfounded(folder)) is (expected not in text)
    assert fill_readings(folder.parent) == []
    assert reading_text(folder) == f"# Title\n\nIt is {expected}.\n"


def test_units_of_an_experiment_of_ones_own_are_those_that_were_recorded(folder: Path) -> None:
    own = folder.with_name("own_table_quick")
    shutil.copytree(folder, own)
    (own / READING).write_text(f"It is 0.9999999<!-- {SOURCE} -->.")
    manifest = json.loads((own / "manifest.json").read_text())
    write_json(own / "manifest.json", manifest | {"units": {}})
    assert filled(own).startswith("It is 0.0000609<")
    write_json(own / "manifest.json", manifest | {"units": {"mmd_exact": 1e-6}})
    assert filled(own).startswith("It is 60.9")


@pytest.fixture
def own(folder: Path) -> Path:
    """A record with labels that hold what separates others, and with a negative number."""
    own = folder.with_name("own_table_quick")
    shutil.copytree(folder, own)
    frame = pd.read_csv(own / "table.csv").iloc[:4].assign(metric="tv", hi=0.5)
    frame["row"], frame["cell"] = ["A / B", "A", "B", "A -> B"], "c < 8"
    frame["mean"] = [7.0, 1.0, -4.0, float("inf")]
    frame.to_csv(own / "table.csv", index=False)
    (own / DIGESTS).unlink()
    return own


@pytest.mark.parametrize(
    ("number", "source", "expected"),
    [
        ("0.3", "A / B | c < 8 | tv", "7.0"),
        ("0.3", "A / A / B | c < 8 | tv", "0.1"),
        ("0.30", "A / B / A | c < 8 | tv", "7.00"),
        ("0.30", "B / A | c < 8 | tv", "-4.00"),
        ("\N{MINUS SIGN}5.0", "B | c < 8 | tv", "\N{MINUS SIGN}4.0"),
        ("\N{MINUS SIGN}5.0e1", "B | c < 8 | tv", "\N{MINUS SIGN}4.0e0"),
        ("\N{MINUS SIGN}5.0", "A | c < 8 | tv", "1.0"),
        ("-5.0", "B | c < 8 | tv", "-4.0"),
        ("2-5", "A | c < 8 | tv", "2-1"),
    ],
)
def test_labels_and_signs_of_every_form(own: Path, number: str, source: str, expected: str) -> None:
    """A label with a stroke was a ratio, one with < had no number, and there were two signs of minus."""
    (own / READING).write_text(f"It is {number}<!-- {source} -->.")
    assert filled(own) == f"It is {expected}<!-- {source} -->."
    (own / READING).write_text(filled(own))
    assert unfounded(own) == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("A -> B | c < 8 | tv", "the record has no number 'A -> B | c < 8 | tv'."),
        ("A | c < 8", "a source must be row | column | metric, 'A | c < 8' was given."),
        (
            "A | c < 8 | tv | n | n | n",
            "a source must be row | column | metric, 'A | c < 8 | tv | n | n | n'",
        ),
        (
            "A | c < 8 | tv | n | n",
            "the fifth part of a source must be smallest, largest, at least, at most, how many",
        ),
        (
            "A | c < 8 | tv | median",
            "the fourth part of a source must be mean, sd, lo, hi, n, p_value, margin",
        ),
        ("A | c < 8 | tv | role", "or published_v2_sd, 'role' was given."),
        ("A | c < 8 | tv | bset", "or published_v2_sd, 'bset' was given."),
        ("A; B | c < 8 | tv", "is of 2 numbers and must say which in a fifth part"),
        ("A; C | c < 8 | tv | mean | largest", "the record has no number 'C | c < 8 | tv'."),
        ("A @ pt_table9 | c < 8 | tv", "is left as it is: there is no recorded table pt_table9."),
    ],
)
def test_a_source_of_another_form_is_one_sentence_and_the_others_are_filled(
    own: Path, folder: Path, source: str, said: str
) -> None:
    """It ended the ledger, and all readings behind it stayed as they were."""
    own = own.rename(own.with_name("a_table_quick"))
    (own / READING).write_text(f"It is 1.0<!-- {source} -->.")
    (folder / READING).write_text(f"It is 9<!-- {SOURCE} | n -->.")
    (sentence,) = fill_readings(folder.parent)
    assert sentence.startswith("a_table_quick/reading.md")
    assert said in sentence
    assert (folder / READING).read_text().startswith("It is 10<")


def test_a_reading_of_a_table_that_was_edited_is_left_as_it_is(folder: Path) -> None:
    """The record was left out, and the reading was rewritten from its numbers."""
    (folder / READING).write_text(text := f"It is 0.061<!-- {SOURCE} -->.")
    table = folder / "table.csv"
    table.write_text(table.read_text().replace("6.09", "7.09"))
    assert fill_readings(folder.parent) == [
        "pt_table1_quick/reading.md is left as it is: table.csv is not as it was recorded (digests.json)."
    ]
    assert (folder / READING).read_text() == text


def test_a_reading_of_a_table_of_another_schema_is_left_as_it_is(own: Path) -> None:
    (own / "table.csv").write_text("row,cell\n1,2\n")
    (own / READING).write_text("It is 1.0<!-- A | c < 8 | tv -->.")
    (sentence,) = fill_readings(own.parent)
    assert (
        "own_table_quick/reading.md is left as it is: table.csv of own_table_quick is of another schema"
        in sentence
    )


def test_a_reading_whose_table_is_not_there_is_left_as_it_is(own: Path) -> None:
    (own / "table.md").unlink()
    (own / READING).write_text("It is 1.0.")
    assert fill_readings(own.parent) == [
        "own_table_quick/reading.md is left as it is: table.md is not there."
    ]


def test_a_reading_that_is_no_text_is_named_and_the_others_are_filled(folder: Path) -> None:
    own = folder.with_name("a_table_quick")
    shutil.copytree(folder, own)
    (own / READING).write_bytes(b"\xff")
    (folder / READING).write_text(f"It is 9<!-- {SOURCE} | n -->.")
    assert fill_readings(folder.parent) == ["a_table_quick/reading.md cannot be read: it is not UTF-8."]
    assert (folder / READING).read_text().startswith("It is 10<")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("53.17 of uniform draws, 12,345 of none", ["12345"]),
        ("0.7301 <!-- elsewhere: 0.7301 from: a paper -->", []),
        ("make it `0.7301` [there](0.7302.md), R² and 10⁻³", []),
        ("-0.7301", ["0.7301"]),
    ],
)
def test_other_numbers_stand_in_the_table_or_say_where_they_are_from(
    folder: Path, text: str, missing: list[str]
) -> None:
    (folder / READING).write_text(text)
    assert unfounded(folder) == missing
    assert len(fill_readings(folder.parent)) == bool(missing)


def test_a_number_from_elsewhere_stands_in_a_sentence(folder: Path) -> None:
    (folder / READING).write_text(
        f"0.7 and 10<!-- {SOURCE} | n --> <!-- elsewhere: 0.7 1,234 10 from: a paper -->"
    )
    assert unfounded(folder) == []
    assert fill_readings(folder.parent) == [
        f"{TABLE}/{READING} says where numbers are from that are not in it: 1234, 10."
    ]


def test_a_source_that_is_not_there_is_named(folder: Path) -> None:
    (folder / READING).write_text("1.0<!-- DMALA | MoG, c = 9 | kl -->")
    with pytest.raises(
        UserError, match=r"pt_table1_quick/reading.md: the record has no number 'DMALA \| MoG"
    ):
        filled(folder)


def test_the_command_fails_on_a_number_without_a_source(
    root: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(root / "record" / "edlp_figure11_paper")
    (folder / READING).write_text("0.7301")
    assert main([f"output_root={root}"]) == 1
    assert "numbers that its record does not hold: 0.7301" in capsys.readouterr().err
