"""What a reading may name as the source of a number: differences by SciPy, lists, other records, rounding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from metrics.inference.few_seeds import detectable_difference
from runner.execution.errors import UserError
from runner.store.folder_digests import write_digests
from runner.verdicts.readings.sources import Sources
from tests.runner.verdicts.conftest import Record

A, B, C, D = [1.0, 2.0, 4.0, 3.5], [0.5, 2.5, 1.0, 3.0], [8.0, 9.0], [1.5, 1.75, 2.5]
HERE, THERE, LONG = "own_table_quick", "own_table_paper", "own_table_long"
ONCE = "own_table_once"


@pytest.fixture
def sources(tmp_path: Path, record: Record) -> Sources:
    """Records of A and B with four seeds and two rows without, C with two, D with three and F with one."""
    record(HERE, {"A": A, "B": B})
    record(THERE, {"C": C})
    record(LONG, {"D": D})
    record(ONCE, {"F": [1.0]})
    return Sources(tmp_path / HERE, "the reading")


PAIRED = stats.ttest_rel(A, B)
WELCH = stats.ttest_ind(A, C, equal_var=False)
PAIRED_LONG, APART = stats.ttest_rel(A[:3], D), np.subtract(A[:3], D)
MORE = stats.t.ppf(0.975, 3) * np.std(A, ddof=1) * np.sqrt(1 + 1 / 4)
"""Half the width of the prediction interval for one more run of A."""

FOUND_LONG = detectable_difference(dict(enumerate(A[:3])), dict(enumerate(D)))
FOUND = detectable_difference(dict(enumerate(A)), dict(enumerate(B)))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("A - B | near | tv", 0.0875),
        ("A - B | near | tv | lo", PAIRED.confidence_interval().low / 10),
        ("A - B | near | tv | margin", (PAIRED.confidence_interval().high - 0.875) / 10),
        ("A - B | near | tv | p_value", PAIRED.pvalue),
        ("A - B | near | tv | found", (FOUND or 0.0) / 10),
        ("A - B | near | tv | n", 4.0),
        ("A - B | near | tv | holm_p_value", 0.0625),
        ("B - A | near | tv | detectable", 0.5),
        ("A - B | near | tv | seeds above", 3.0),
        ("A - B | near | tv | lowest seed", -0.05),
        ("A | near - far | tv | highest seed", 1.2),
        ("A | near | tv | prediction_lo", (2.625 - MORE) / 10),
        ("A | near | tv | prediction_hi", (2.625 + MORE) / 10),
        ("A | near | tv | published_own - prediction_lo", 0.2 - (2.625 - MORE) / 10),
        ("A | near | tv | seed 2", 0.4),
        ("B - A | near | tv | seed 1", 0.05),
        ("A | near | tv | lowest seed", 0.1),
        ("A / B | near | tv", 1.5),
        ("A - C @ own_table_paper | near | tv", -0.5875),
        ("A - C @ own_table_paper | near | tv | p_value", WELCH.pvalue),
        ("A - C @ own_table_paper | near | tv | hi", WELCH.confidence_interval().high / 10),
        ("C @ own_table_paper / A | near | tv", 8.5 / 2.625),
        ("C @ own_table_paper | near | tv | n", 2.0),
        ("A - D @ own_table_long by seed | near | tv", np.mean(APART) / 10),
        ("A - D @ own_table_long by seed | near | tv | p_value", PAIRED_LONG.pvalue),
        ("A - D @ own_table_long by seed | near | tv | found", (FOUND_LONG or 0.0) / 10),
        ("A - D @ own_table_long by seed | near | tv | published_own", 0.0),
        ("A - D @ own_table_long by seed | near | tv | hi", PAIRED_LONG.confidence_interval().high / 10),
        ("D @ own_table_long by seed - A | near | tv | n", 3.0),
        ("A - D @ own_table_long by seed | near | tv | seeds above", 2.0),
        ("A* - D @ own_table_long by seed | near | tv | seed 0 | smallest", -0.05),
        ("A - D @ own_table_long by seed | mean over near; far | tv", -np.mean(APART) / 20),
        ("A @ noon | near | tv", 0.2625),
        ("A | near | tv | published_own", 0.2),
        ("A | near | tv | mean - published_own", 0.0625),
        ("A | near | tv | mean / published_own", 1.3125),
        ("A; B | near | tv | mean | smallest", 0.175),
        ("* | * | tv | mean | largest", 0.2625),
        ("* | * | tv | mean | smallest", -0.525),
        ("* - B | * | tv | mean | smallest", -0.175),
        ("A - B | * | tv | p_value | largest", PAIRED.pvalue),
        ("A | *ar | tv | mean | smallest", -0.525),
        ("A | n*r | tv | mean | largest", 0.2625),
        ("A* - B | near | tv | mean | largest", 0.0875),
        ("A - C @ own_table_paper | n* | tv | mean | largest", -0.5875),
        ("B - * | near | tv | mean | smallest", -0.0875),
        ("A @ n* | near | tv | mean | largest", 0.2625),
        ("A* @ own_table_quick - C @ own_table_paper | near | tv | mean | smallest", -0.5875),
    ],
)
def test_a_source_is_what_scipy_makes_of_the_seeds(sources: Sources, source: str, expected: float) -> None:
    assert float(sources.written(source, "0.000000")) == pytest.approx(expected, abs=6e-7)


@pytest.mark.parametrize(
    ("source", "like", "expected"),
    [
        ("A | near | tv | mean | at most", "0.00", "0.27"),
        ("A | near | tv | mean | at least", "0.00", "0.26"),
        ("A | far | tv | mean | at most", "-0.0", "-0.5"),
        ("A | near | tv | lowest seed | at most", "0.0", "0.1"),
        ("A; B | near | tv | mean | at most", "1e-2", "3e-1"),
        ("A; B | near | tv | mean | at least", "1.0e-2", "1.7e-1"),
    ],
)
def test_a_bound_is_rounded_outwards(sources: Sources, source: str, like: str, expected: str) -> None:
    assert sources.written(source, like) == expected


@pytest.mark.parametrize(
    "source",
    [
        "A - C @ own_table_paper | near | tv | seeds above",
        "A - E @ own_table_long by seed | near | tv",
        "A - F @ own_table_once by seed | near | tv",
        "A - D @ own_table_long | near | tv | n",
        "A - D @ own_table_long | mean over near; far | tv",
        "A - B | far | tv | holm_p_value",
        "A | near | tv | seed 4",
        "C @ own_table_pap* | near | tv | mean | largest",
        "* - * | near | tv | mean | largest",
        "A | near | tv | found",
        "A - E | near | tv | margin",
        "A - B | near | tv | prediction_lo",
        "A / B | near | tv | prediction_lo",
        "A - C @ own_table_paper | near | tv | prediction_hi",
        "A - D | near | tv",
        "* | near | kl | mean | largest",
        "A | f*r, long | tv | mean | largest",
    ],
)
def test_what_no_table_has_is_named(sources: Sources, source: str) -> None:
    with pytest.raises(UserError, match="the reading: the record has no number"):
        sources.written(source, "0.0")


@pytest.mark.parametrize("row", ["D @ own_table_long by seed", "A / D @ own_table_long by seed"])
def test_only_a_difference_is_paired(sources: Sources, row: str) -> None:
    with pytest.raises(UserError, match="the reading: only a difference is by seed, '"):
        sources.written(f"{row} | near | tv", "0.0")


def test_another_record_that_was_edited_vouches_for_nothing(sources: Sources, tmp_path: Path) -> None:
    (tmp_path / THERE / "digests.json").write_text('{"files": {"table.csv": "0"}}')
    with pytest.raises(UserError, match=r"as it is: table.csv of own_table_paper is not as it was recorded"):
        sources.written("C @ own_table_paper | near | tv", "0.0")


GROWTHS = """row,cell,metric,mean,lo,hi,n,points,r2_log,r2_linear,r2_power
A,D^p,tv,2.5,2.25,2.75,4,4,0.875,0.75,
B,D^p,tv,0.5,,,2,4,1.0,1.0,
A,exp(p D^2),tv,0.125,0.0625,0.1875,4,4,0.875,0.75,0.625
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("A | D^p | tv", "2.5000"),
        ("A | D^p | tv | lo", "2.2500"),
        ("A; B | D^p | tv | mean | smallest", "0.5000"),
        ("* | D^p | tv | r2_log | smallest", "0.8750"),
        ("A | exp(p D^2) | tv", "0.1250"),
        ("A | exp(p D^2) | tv | r2_power", "0.6250"),
        ("A @ own_table_quick | D^p | tv | hi", "2.7500"),
        ("A / B | D^p | tv", "5.0000"),
        ("A | * | tv | mean | largest", "0.2625"),  # columns alone
    ],
)
def test_a_growth_is_a_place_by_its_form(tmp_path: Path, record: Record, source: str, expected: str) -> None:
    """Its exponent has no unit, where the table's own numbers are in tens."""
    record(HERE, {"A": A, "B": B})
    (tmp_path / HERE / "growths.csv").write_text(GROWTHS)
    assert Sources(tmp_path / HERE, "the reading").written(source, "0.0000") == expected


@pytest.mark.parametrize(
    "source",
    [
        "A | D^p | tv | sd",
        "B | D^p | tv | lo",
        "A | D^p | tv | r2_power",
        "A - B | D^p | tv",
        "A - A | D^p | tv | p_value",
        "A | D^q | tv",
        "A | near | tv | r2_log",
    ],
)
def test_what_a_growth_lacks_is_no_number(tmp_path: Path, record: Record, source: str) -> None:
    record(HERE, {"A": A, "B": B})
    (tmp_path / HERE / "growths.csv").write_text(GROWTHS)
    with pytest.raises(UserError, match="the reading: the record has no number"):
        Sources(tmp_path / HERE, "the reading").written(source, "0.0000")


def test_growths_that_the_digests_do_not_list_are_not_of_the_record(tmp_path: Path, record: Record) -> None:
    record(HERE, {"A": A, "B": B})
    (tmp_path / HERE / "growths.csv").write_text(GROWTHS)
    write_digests(tmp_path / HERE, ["table.csv", "seeds.csv", "manifest.json"])
    with pytest.raises(UserError, match="the reading: the record has no number"):
        Sources(tmp_path / HERE, "the reading").written("A | D^p | tv", "0.0000")


def test_a_column_comes_before_a_form(tmp_path: Path, record: Record) -> None:
    record(HERE, {"A": A, "B": B})
    (tmp_path / HERE / "growths.csv").write_text(GROWTHS.replace("D^p", "near"))
    assert Sources(tmp_path / HERE, "the reading").written("A | near | tv", "0.0000") == "0.2625"


def test_a_label_may_look_like_a_number(tmp_path: Path, record: Record) -> None:
    record(HERE, {"A": A, "0.50": B}, against=["0.50"])
    sources = Sources(tmp_path / HERE, "the reading")
    assert sources.written("A - 0.50 | near | tv | holm_p_value", "0.0000") == "0.0625"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("comparisons.csv", "row,against\nA,B\n"),
        ("growths.csv", "row,cell,metric\nA,D^p,tv\n"),
        ("growths.csv", GROWTHS.replace("B,", "A,")),
        ("growths.csv", GROWTHS.replace("2.5", "much")),
    ],
)
def test_a_file_of_another_schema_is_named(sources: Sources, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / THERE / name).write_text(text)
    with pytest.raises(UserError, match=rf"{name} of own_table_paper is of another schema \([^\n]*\)\.$"):
        sources.written("C @ own_table_paper | near | tv", "0.0")
