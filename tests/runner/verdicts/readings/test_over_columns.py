"""Numbers over several columns of a table: each counts the same, and is paired by seed within itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from metrics.inference.few_seeds import holm
from runner.execution.errors import UserError
from runner.verdicts.readings.sources import Sources
from tests.runner.verdicts.conftest import Record

DRAWS = np.random.default_rng(3)
VALUES = {(row, column): DRAWS.normal(1.0, 0.5, 5) for row in "ABC" for column in ("near", "far")}
OVER = "mean over near; far"


@pytest.fixture
def sources(tmp_path: Path, record: Record) -> Sources:
    """A record whose two columns are independent of each other, in units of 10."""
    record("own_quick", {row: VALUES[row, "near"] for row in "ABC"})
    record("other_quick", {"A": VALUES["A", "near"]})
    far = [" ".join(f"{value:.17g}" for value in VALUES[row, "far"]).split() for row in "ABC"]
    seeds = tmp_path / "own_quick" / "seeds.csv"
    kept = [line for line in seeds.read_text().splitlines() if ",far," not in line]
    lines = [",".join((row, "far", "tv", *values)) for row, values in zip("ABC", far, strict=True)]
    seeds.write_text("\n".join([*kept, *lines, ""]))
    return Sources(tmp_path / "own_quick", "the reading")


def number(sources: Sources, source: str) -> float:
    return float(sources.written(source, "0.000000"))


def apart(one: str, other: str) -> list[NDArray[np.float64]]:
    return [(VALUES[one, column] - VALUES[other, column]) / 10 for column in ("near", "far")]


def expected(groups: list[NDArray[np.float64]]) -> tuple[float, float, float]:
    """Mean, half of its interval and p-value by Welch and Satterthwaite, as they are written down."""
    squares = [group.var(ddof=1) / len(group) for group in groups]
    error = np.sqrt(sum(squares)) / len(groups)
    free = sum(squares) ** 2 / sum(s**2 / (len(group) - 1) for s, group in zip(squares, groups, strict=True))
    mean = float(np.mean([group.mean() for group in groups]))
    return mean, float(stats.t.ppf(0.975, free) * error), float(2 * stats.t.sf(abs(mean) / error, free))


@pytest.mark.parametrize("column", [OVER, "mean over *", "mean over far; near", "mean over near; far; near"])
def test_a_difference_is_paired_in_each_column(sources: Sources, column: str) -> None:
    mean, margin, p_value = expected(apart("A", "B"))
    assert number(sources, f"A - B | {column} | tv") == pytest.approx(mean, abs=6e-7)
    assert number(sources, f"A - B | {column} | tv | margin") == pytest.approx(margin, abs=6e-7)
    assert number(sources, f"A - B | {column} | tv | p_value") == pytest.approx(p_value, abs=6e-7)
    above = sum(int((group > 0).sum()) for group in apart("A", "B"))
    assert 0 < above < 10
    assert number(sources, f"A - B | {column} | tv | seeds above") == above


def test_one_column_is_the_column(sources: Sources) -> None:
    for what in ("mean", "margin", "p_value", "found"):
        of_one = number(sources, f"A - B | near | tv | {what}")
        assert number(sources, f"A - B | mean over near | tv | {what}") == pytest.approx(of_one, abs=1e-9)


def test_such_tests_are_corrected_together(sources: Sources) -> None:
    sources.read_families(f"<!-- tests: all = B - A; C - A; C - B | {OVER} | tv -->")
    pairs = ("BA", "CA", "CB")
    adjusted = holm([expected(apart(*pair))[2] for pair in pairs])
    for (one, other), p_value in zip(pairs, adjusted, strict=True):
        found = number(sources, f"{one} - {other} | {OVER} | tv | p_value of all")
        assert found == pytest.approx(p_value, abs=6e-7)
    single = number(sources, f"B - A | {OVER} | tv | found")
    assert number(sources, f"B - A | {OVER} | tv | found of all") > 1.1 * single


def test_the_order_of_the_columns_makes_no_other_test(sources: Sources) -> None:
    sources.read_families(
        f"<!-- tests: all = B - A | {OVER}; far | tv --><!-- tests: all = A - B | mean over * | tv -->"
    )
    found = number(sources, "B - A | mean over far; near | tv | p_value of all")
    assert found == pytest.approx(expected(apart("B", "A"))[2], abs=6e-7)


def changed(sources: Sources, tmp_path: Path, column: str, values: list[str]) -> Sources:
    """The sources with other values by seed of the row B in a column."""
    path = tmp_path / "own_quick" / "seeds.csv"
    lines = path.read_text().splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith(f"B,{column},"))
    lines[at] = ",".join(["B", column, "tv", *values])
    path.write_text("\n".join([*lines, ""]))
    return Sources(tmp_path / "own_quick", "the reading")


@pytest.mark.parametrize("what", ["mean", "margin", "p_value", "seeds above"])
def test_a_column_without_shared_seeds_leaves_no_number(sources: Sources, tmp_path: Path, what: str) -> None:
    without = changed(sources, tmp_path, "far", [""] * 5)
    with pytest.raises(UserError, match="the reading: the record has no number"):
        without.written(f"A - B | {OVER} | tv | {what}", "0.0")


def test_differences_that_vary_by_rounding_alone_have_no_test(sources: Sources, tmp_path: Path) -> None:
    for column in ("near", "far"):
        values = [f"{value - 0.1:.17g}" for value in VALUES["A", column]]
        sources = changed(sources, tmp_path, column, values)
    assert number(sources, f"A - B | {OVER} | tv") == pytest.approx(0.01, abs=1e-9)
    with pytest.raises(UserError, match="the reading: the record has no number"):
        sources.written(f"A - B | {OVER} | tv | p_value", "0.0")


def test_a_row_has_its_mean_over_the_columns(sources: Sources) -> None:
    """Of table.csv, where the column far is minus twice near."""
    near = VALUES["A", "near"] / 10
    mean, margin, _ = expected([near, -2 * near])
    assert number(sources, f"A | {OVER} | tv") == pytest.approx(mean, abs=6e-7)
    assert number(sources, f"A | {OVER} | tv | margin") == pytest.approx(margin, abs=6e-7)
    assert number(sources, f"A; B | {OVER} | tv | mean | largest") >= mean - 6e-7


@pytest.mark.parametrize(
    "source",
    [
        "A - B | mean over near; nowhere | tv",
        "A - E | mean over * | tv | p_value",
        "A - B @ other_quick | mean over * | tv",
        "A - B | mean over * | tv | holm_p_value",
        "A | mean over * | tv | published_own",
    ],
)
def test_what_is_not_known_in_each_column_is_named(sources: Sources, source: str) -> None:
    with pytest.raises(UserError, match="the reading: the record has no number"):
        sources.written(source, "0.0")
