"""Tests that a reading corrects together, against Holm's steps by hand and the power of the first of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from metrics.inference.few_seeds import Interval, detectable_difference
from metrics.inference.welch import welch_detectable
from runner.execution.errors import UserError
from runner.verdicts.readings.sources import Sources
from tests.runner.verdicts.conftest import Record

ROWS = {name: np.random.default_rng(place).normal(1.2 * place, 1.0, 5) for place, name in enumerate("ABC")}
OTHER = np.random.default_rng(7).normal(0.0, 0.5, 6)


@pytest.fixture
def sources(tmp_path: Path, record: Record) -> Sources:
    record("one_quick", ROWS)
    record("other_quick", {"D": OTHER})
    return Sources(tmp_path / "one_quick", "the reading")


def number(sources: Sources, source: str) -> float:
    return float(sources.written(source, "0.000000"))


def single(one: str, other: str) -> float:
    return float(stats.ttest_rel(ROWS[one], ROWS[other]).pvalue)


def test_p_values_are_adjusted_by_holms_steps(sources: Sources) -> None:
    """The smallest of three is tripled, the next one doubled; the largest is no smaller than this."""
    sources.read_families("<!-- tests: all = B - A; C - A; C - B | near | tv -->")
    pairs = sorted(("BA", "CA", "CB"), key=lambda pair: single(*pair))
    expected, largest = {}, 0.0
    for pair, times in zip(pairs, (3, 2, 1), strict=True):
        largest = max(largest, min(1.0, times * single(*pair)))
        expected[pair] = largest
    found = {
        (one, other): number(sources, f"{one} - {other} | near | tv | p_value of all") for one, other in pairs
    }
    assert found == pytest.approx({tuple(pair): p for pair, p in expected.items()}, abs=6e-7)
    assert number(sources, "B - A | near | tv | p_value") == pytest.approx(single("B", "A"), abs=6e-7)
    smallest = number(sources, "B - A; C - A; C - B | near | tv | p_value of all | smallest")
    assert smallest == pytest.approx(min(expected.values()), abs=6e-7)


def test_what_would_have_been_found_is_at_the_corrected_level(sources: Sources) -> None:
    sources.read_families("<!-- tests: all = B - A; C - A | near; far | tv -->")
    of_one, of_four = (
        detectable_difference(dict(enumerate(ROWS["B"])), dict(enumerate(ROWS["A"])), tests=tests) or 0.0
        for tests in (1, 4)
    )
    assert of_four > of_one
    assert number(sources, "B - A | near | tv | found") == pytest.approx(of_one / 10, abs=6e-7)
    assert number(sources, "B - A | near | tv | found of all") == pytest.approx(of_four / 10, abs=6e-7)
    assert number(sources, "A - B | far | tv | found of all") == pytest.approx(2 * of_four / 10, abs=6e-7)


def test_tests_against_another_record_are_welchs(sources: Sources) -> None:
    sources.read_families("<!-- tests: both = A - D @ other_quick; B - D @ other_quick | near | tv -->")
    p_values = {row: float(stats.ttest_ind(ROWS[row], OTHER, equal_var=False).pvalue) for row in "AB"}
    first = min("AB", key=lambda row: p_values[row])
    found = number(sources, f"{first} - D @ other_quick | near | tv | p_value of both")
    assert found == pytest.approx(2 * p_values[first], abs=6e-7)
    one, other = (
        Interval(float(values.mean()), float(values.std(ddof=1)), None, None, len(values))
        for values in (ROWS["A"], OTHER)
    )
    found = number(sources, "A - D @ other_quick | near | tv | found of both")
    assert found == pytest.approx((welch_detectable(one, other, tests=2) or 0.0) / 10, abs=6e-7)


def test_tests_by_seed_against_another_record_are_paired(sources: Sources) -> None:
    sources.read_families(
        "<!-- tests: both = A - D @ other_quick by seed; B - D @ other_quick by seed\n| near | tv -->"
    )
    p_values = {row: float(stats.ttest_rel(ROWS[row], OTHER[:5]).pvalue) for row in "AB"}
    first = min("AB", key=lambda row: p_values[row])
    found = number(sources, f"{first} - D @ other_quick by seed | near | tv | p_value of both")
    assert found == pytest.approx(2 * p_values[first], abs=6e-7)


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("<!-- tests: all = B - A; A - B | near | tv -->", 1),
        ("<!-- tests: all = * - A | * | tv -->", 4),
        ("<!-- tests: all = B - A | near | tv --> and\n<!-- tests: all = C - A |\nnear | tv -->", 2),
        ("p = 3 <!-- tests:\n  all = B - A;\nC - A | near;\nfar | tv -->, q = 4 -->", 4),
        (r"<!-- tests: all = B - A \| near; far \| tv -->", 2),
    ],
)
def test_a_test_counts_once(sources: Sources, text: str, tests: int) -> None:
    """The other order is the same test, a ``*`` leaves out what is none, and comments of one name add up."""
    sources.read_families(text)
    expected = detectable_difference(dict(enumerate(ROWS["B"])), dict(enumerate(ROWS["A"])), tests=tests)
    assert number(sources, "B - A | near | tv | found of all") == pytest.approx(
        (expected or 0.0) / 10, abs=6e-7
    )


ONE = "all = B - A | near | tv"


@pytest.mark.parametrize(
    ("text", "source", "said"),
    [
        (
            "all = B - A | near",
            "",
            "the tests 'all' must be row | column | metric, 'B - A | near' was given.",
        ),
        ("all = B | near | tv", "", "'B | near | tv' of the tests 'all' has no p-value."),
        ("all = B - E | near | tv", "", "'B - E | near | tv' of the tests 'all' has no p-value."),
        ("all = B - D | near | tv", "", "'B - D | near | tv' of the tests 'all' has no p-value."),
        ("all = Z* - A | near | tv", "", "there are no tests 'Z* - A | near | tv', which 'all' names."),
        (
            "all: B - A | near | tv",
            "",
            "tests must be named as in 'tests: NAME = A - B | column | metric', 'te",
        ),
        (ONE, "B - A | near | tv | p_value of al", "no tests are named 'al'; did you mean 'all'?"),
        (ONE, "C - A | near | tv | p_value of all", "'C - A | near | tv' is not among the tests 'all'."),
        (ONE, "B | near | tv | found of all", "'B | near | tv' is not among the tests 'all'."),
        (ONE, "B - A | near | tv | margin of all", "the fourth part of a source must be mean"),
    ],
)
def test_what_is_no_test_is_named(sources: Sources, text: str, source: str, said: str) -> None:
    def read() -> None:
        sources.read_families(f"<!-- tests: {text} -->")
        sources.written(source, "0.0")

    with pytest.raises(UserError) as told:
        read()
    assert str(told.value).startswith(f"the reading: {said}")


def test_a_star_in_a_source_leaves_out_what_is_not_among_the_tests(sources: Sources) -> None:
    sources.read_families("<!-- tests: all = B - A | * | tv -->")
    found = number(sources, "* - A | * | tv | p_value of all | largest")
    assert found == pytest.approx(min(1.0, 2 * single("B", "A")), abs=6e-7)
