"""A reading of a bench: its numbers are those of bench.csv, by line, column and place."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.store.folder_digests import write_digests
from runner.verdicts.readings.texts import READING, fill_readings, filled, readings, unfounded

LINES = """\
measured,value,wanted,met
"dmala, 100 chains, compiled",85.83 times (5.34 against 0.06 ms),>= 60,yes
growth with replicas,"exponent 1.07 (1,071, 6.64 ms)",<= 1 (1.1 with noise),yes
memory,-50.2 MB,-,yes
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bench beside another one, whose first value is 10."""
    for name, value in (("bench_here", "85.83"), ("bench_there", "10.00")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bench.csv").write_text(LINES.replace("85.83", value))
        (tmp_path / name / "bench.md").write_text(
            "Bench, torch 2.14\n\n| dmala, 100 chains | 85.83 times |\n"
        )
    return tmp_path / "bench_here"


@pytest.mark.parametrize(
    ("number", "source", "expected"),
    [
        ("9", "dmala, 100 chains, compiled | value | 1", "86"),
        ("9.99", "dmala, 100 chains, compiled | value | 3", "0.06"),
        ("9", "dmala, 100 chains, compiled | wanted | 1", "60"),
        ("9,999", "growth with replicas | value | 2", "1,071"),
        ("9.9", "growth with replicas | wanted | 2", "1.1"),
        ("-9.9", "memory | value | 1", "-50.2"),
        ("9.9", "* | value | 1 | mean | largest", "85.8"),
        ("9", "* | value | 1 | mean | how many", "3"),
        ("9", "* | value | 1 | mean | how many above 1.1", "1"),
        ("9.9", "dmala, 100 chains, compiled @ bench_there | value | 1", "10.0"),
        ("9.9", "dmala, 100 chains, compiled - memory | value | 1", "136.0"),
        ("9.9", "dmala, 100 chains, compiled / growth with replicas | value | 1", "80.2"),
    ],
)
def test_a_number_is_that_of_its_source(folder: Path, number: str, source: str, expected: str) -> None:
    (folder / READING).write_text(f"It is {number}<!-- {source} -->.")
    assert unfounded(folder) == [f"{number} where {source} is {expected}"]
    assert filled(folder) == f"It is {expected}<!-- {source} -->."
    assert readings(folder.parent) == [folder]
    assert fill_readings(folder.parent) == []
    assert unfounded(folder) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1<!-- memory | value | 2 -->", "the record has no number 'memory | value | 2'."),
        ("1<!-- memory | wanted | 1 -->", "the record has no number 'memory | wanted | 1'."),
        ("1<!-- memory | value | 1 | sd -->", "the record has no number 'memory | value | 1 | sd'."),
        ("1<!-- memory @ bench_lost | value | 1 -->", "there is no recorded bench bench_lost."),
        (
            "1<!-- memory | value -->",
            "a source must be measured | value or wanted | 1, 2, ..., 'memory | value' was given.",
        ),
        ("100 and 85.83", "has numbers that its record does not hold: 85.83."),
    ],
)
def test_what_the_bench_does_not_hold_is_one_sentence(folder: Path, text: str, said: str) -> None:
    (folder / READING).write_text(text)
    (sentence,) = fill_readings(folder.parent)
    assert sentence.startswith("bench_here/reading.md")
    assert sentence.endswith(said)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (b"measured,seconds\nmemory,1\n", "(without value, wanted)"),
        (b"measured,value,wanted,met\n", "(without a number)"),
        (b"measured,value,wanted,met\n,1,2,yes\n", "(without a number)"),
        (b"", "(No columns to parse from file)"),
        (b'measured,value,wanted\n"memory,1,2\n', "(Error tokenizing data."),
        (b"measured,value,wanted\n\xff,1,2\n", "('utf-8' codec can't decode byte 0xff"),
    ],
)
def test_a_bench_of_another_schema_is_one_sentence(folder: Path, file: bytes, said: str) -> None:
    (folder / "bench.csv").write_bytes(file)
    (folder / READING).write_text("1<!-- * | value | 1 | mean | largest -->")
    (sentence,) = fill_readings(folder.parent)
    assert sentence.startswith(
        "bench_here/reading.md is left as it is: bench.csv of bench_here is of another schema"
    )
    assert said in sentence
    assert sentence.count("\n") == 0


def test_lines_that_share_a_name_have_no_number(folder: Path) -> None:
    with (folder / "bench.csv").open("a") as file:
        file.write("memory,2 MB,-,yes\n")
    (folder / READING).write_text("1<!-- memory | value | 1 -->")
    (sentence,) = fill_readings(folder.parent)
    assert sentence.endswith("the record has no number 'memory | value | 1'.")


def test_an_exponent_and_a_name_with_a_number_are_read_as_such(folder: Path) -> None:
    with (folder / "bench.csv").open("a") as file:
        file.write("rounding,1.2e-05 s on A100,-,yes\n")
    (folder / READING).write_text(
        "1.0e-1<!-- rounding | value | 1 --> and 1<!-- rounding; memory | value | * | mean | largest -->"
    )
    assert filled(folder).startswith("1.2e-5<")
    assert "and 0<" in filled(folder)


@pytest.mark.parametrize("name", ["bench_here", "bench_there"])
def test_a_bench_that_was_edited_leaves_the_reading_as_it_is(folder: Path, name: str) -> None:
    write_digests(folder.with_name(name), ["bench.csv", "bench.md"])
    bench = folder.with_name(name) / "bench.csv"
    bench.write_text(bench.read_text().replace("-50.2", "-99.9"))
    (folder / READING).write_text(text := "1<!-- memory @ bench_there | value | 1 -->")
    (sentence,) = fill_readings(folder.parent)
    assert "is not as it was recorded (digests.json)." in sentence
    assert (folder / READING).read_text() == text


def test_a_reading_whose_bench_cannot_be_shown_is_left_as_it_is(folder: Path) -> None:
    (folder / "bench.md").unlink()
    (folder / READING).write_text(text := "1<!-- memory | value | 1 -->")
    assert fill_readings(folder.parent) == ["bench_here/reading.md is left as it is: bench.md is not there."]
    assert (folder / READING).read_text() == text
