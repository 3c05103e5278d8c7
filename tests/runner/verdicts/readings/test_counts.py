"""How many numbers of a table fit a condition, against counts by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.execution.errors import UserError
from runner.verdicts.readings.counts import is_count
from runner.verdicts.readings.sources import Sources
from tests.runner.verdicts.conftest import Record

A, B, C = [2.0, 2.1, 1.9, 2.05], [3.0, 3.1, 2.9, 3.0], [2.0]
"""Values by seed; in the column far they are times -2. Each published number is 2, and the unit is 10."""


@pytest.fixture
def sources(tmp_path: Path, record: Record) -> Sources:
    """Beside the rows A, B and C are E and A @ noon, which are A in the column near."""
    record("own_table_quick", {"A": A, "B": B, "C": C})
    sources = Sources(tmp_path / "own_table_quick", "the reading")
    sources.read_families("<!-- tests: both = A - B | near; far | tv -->")
    return sources


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("* | * | tv | mean | how many", 8),
        ("A; B | near | tv | mean | how many", 2),
        ("* | * | tv | sd | how many", 6),
        ("* | * | tv | mean | how many above 0", 5),
        ("* | * | tv | mean | how many above -.4", 5),
        ("* | * | tv | mean | how many below +1e+0", 8),
        ("* | * | tv | mean | how many below -0.4", 2),
        ("* | * | tv | mean | how many above 0.2", 4),
        ("* | * | tv | mean | how many above 2e-1", 4),
        ("A - * | near | tv | mean | how many below 0", 1),
        ("A - B | * | tv | p_value | how many below 0.05", 2),
        ("A - B | * | tv | p_value of both | how many below 1e-9", 0),
        ("A - * | * | tv | p_value of both | how many", 2),
        ("A; B; E | * | tv | published_own | how many", 5),
        ("A; B | * | tv | published_own | how many predicted", 1),
        ("A* | near | tv | published_own | how many predicted", 2),
    ],
)
def test_a_count_is_of_the_numbers_that_fit(sources: Sources, source: str, expected: int) -> None:
    assert sources.written(source, "0") == str(expected)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            "A | near | tv | mean | how many predicted",
            "'how many predicted' counts published numbers, published_own, not 'mean'.",
        ),
        ("A | near | tv | mean | how many over 3", "the fifth part of a source must be smallest, largest, "),
        ("A | near | tv | mean | how many above x", "or how many predicted, 'how many above x' was given"),
        ("A / B | near | tv | published_own | how many predicted", "is of numbers without a prediction"),
        (
            "C | near | tv | published_own | how many predicted",
            "is of numbers without a prediction interval.",
        ),
        ("* | near | kl | mean | how many", "the record has no number '* | near | kl | mean | how many'."),
        (
            "A; B | near | tv",
            "must say which in a fifth part: smallest, largest, at least, at most or how many",
        ),
    ],
)
def test_a_count_of_another_form_is_one_sentence(sources: Sources, source: str, sentence: str) -> None:
    with pytest.raises(UserError) as refusal:
        sources.written(source, "0")
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("which", [None, "largest", "how many ", "how many below", "how many predicted 3"])
def test_what_asks_for_no_count(which: str | None) -> None:
    assert not is_count(which)
