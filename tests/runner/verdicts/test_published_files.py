"""Files of published numbers: what they print is printed and judged, and a mistake in one is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.execution.errors import UserError
from runner.report.numerals import Numeral
from runner.report.published import Published, read_published

HEAD = "paper,table,setting,sampler,metric,mean,std,unit_scale,better\n"


def read(tmp_path: Path, *lines: str, head: str = HEAD) -> dict[tuple[str, str, str], Published]:
    """The numbers of Table 1 of a file with these lines below a comment and its head."""
    (tmp_path / "own.csv").write_text("# own paper\n" + head + "".join(f"{line}\n" for line in lines))
    read_published.cache_clear()
    return read_published(tmp_path / "own.csv")["own", "Table 1"]


@pytest.mark.parametrize(
    ("mean", "std", "unit", "rounding"),
    [
        ("-452.97", "6.1", "1", 0.005),
        ("2.030", "", "1", 0.0005),
        ("0.2", "0.04", "1", 0.05),
        ("3e-1", "", "1", 0.05),
        ("1e-3", "2.5e-4", "1", 0.0005),
        ("1.50E3", "", "1", 5.0),
        ("12", "", "1e-3", 0.0005),
    ],
)
def test_a_number_is_kept_as_printed(tmp_path: Path, mean: str, std: str, unit: str, rounding: float) -> None:
    """1e-3 was printed 0 and taken for a number that is rounded to whole ones; 0.2 ± 0.04 was 0.2 ± 0.0."""
    number = read(tmp_path, f"own,Table 1,MoG,Gibbs,KL,{mean},{std},{unit},lower")["KL", "MoG", "Gibbs"]
    assert number.printed == Numeral(mean, std or None)
    assert (number.mean, number.sd) == (float(mean), float(std) if std else None)
    assert number.rounding == pytest.approx(rounding)


def test_labels_are_text_whatever_they_say(tmp_path: Path) -> None:
    """Also behind the mark of bytes that some editors begin a file with."""
    lines = "own,Table 1,Bernoulli #1,NA,TV,0.2,,1,lower", '\nown,Table 1,"c < 8, d",None,TV,0.3,,1,lower'
    found = read(tmp_path, *lines)
    assert list(found) == [("TV", "Bernoulli #1", "NA"), ("TV", "c < 8, d", "None")]
    path = tmp_path / "own.csv"
    path.write_text(path.read_text().removeprefix("# own paper\n"), encoding="utf-8-sig")
    read_published.cache_clear()
    assert read_published(path)["own", "Table 1"] == found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Gibbs,TV,n/a,,1,lower", "mean must be a number such as -0.25 or 1e-3, 'n/a' was given."),
        ('Gibbs,TV,"1,234.5",,1,lower', "mean must be a number such as -0.25 or 1e-3, '1,234.5' was given."),
        ("Gibbs,TV,\N{MINUS SIGN}0.3,,1,lower", "mean must be .*'\N{MINUS SIGN}0.3' was given."),
        ("Gibbs,TV,nan,,1,lower", "mean must be .*'nan' was given."),
        ("Gibbs,TV,1e999,,1,lower", "mean must be .*'1e999' was given."),
        ("Gibbs,TV,,,1,lower", "mean must be .*'' was given."),
        ("Gibbs,TV,0.3,-0.1,1,lower", "std must be empty or a number from 0 on .*'-0.1' was given."),
        ("Gibbs,TV,0.3,,0,lower", "unit_scale must be a number above 0 .*'0' was given."),
        (",TV,0.3,,1,lower", "sampler must not be empty."),
        ("Gibbs,TV,0.3,,1", "must have 9 fields as the first line has, it has 8."),
        ("DMALA,TV,0.4,,1,lower", "own, Table 1, MoG, DMALA, TV must stand once, but it is also on line 3."),
    ],
)
def test_a_mistake_is_one_sentence_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(UserError, match=rf"^own.csv, line 4:? {said}$"):
        read(tmp_path, "own,Table 1,MoG,DMALA,TV,0.2,,1,lower", f"own,Table 1,MoG,{line}")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (HEAD.replace("unit_scale", "unit_scal"), "no column 'unit_scale'; did you mean 'unit_scal'"),
        ("", "no column 'paper'; it must have paper, table, setting, sampler, metric, mean, std"),
    ],
)
def test_a_missing_column_is_named(tmp_path: Path, head: str, said: str) -> None:
    with pytest.raises(UserError, match=f"^own.csv has {said}"):
        read(tmp_path, head=head)


def test_a_file_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bytes.csv").write_bytes(HEAD.encode() + b"\xff")
    with pytest.raises(UserError, match=r"^bytes.csv cannot be read: .*utf-8"):
        read_published(tmp_path / "bytes.csv")
