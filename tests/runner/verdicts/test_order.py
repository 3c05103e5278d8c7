"""The order of rows on made-up columns: what holds, is reversed, or cannot be told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metrics.inference.few_seeds import Interval, detectable_difference, holm, interval, paired_p_value
from metrics.inference.welch import welch_detectable, welch_p_value
from runner.verdicts.order import Beside, Outcome, Pair, compare, of_column
from runner.verdicts.records import Measured

PUBLISHED = {"A": 1.0, "B": 2.0, "C": 3.0}


def ours(**means: float) -> dict[str, Measured]:
    return {
        row: Measured(Interval(mean, 0.1, None, None, 5), False, "sampler") for row, mean in means.items()
    }


def outcomes(pairs: list[Pair]) -> dict[str, str]:
    return {"".join(pair.rows): pair.outcome.value for pair in pairs}


def test_an_order_holds_where_every_pair_does() -> None:
    pairs = compare(PUBLISHED, [Beside(ours(A=1.0, B=5.0, C=9.0))])
    assert set(outcomes(pairs).values()) == {"holds"}
    assert of_column(pairs) is Outcome.holds


def test_one_significant_reversal_reverses_a_column() -> None:
    pairs = compare(PUBLISHED, [Beside(ours(A=1.0, B=9.0, C=5.0))])
    assert outcomes(pairs) == {"AB": "holds", "AC": "holds", "BC": "reversed"}
    assert of_column(pairs) is Outcome.reversed


def test_what_cannot_be_told_has_the_difference_that_would_be_found() -> None:
    values = ours(A=1.0, B=1.05, C=9.0)
    pairs = compare(PUBLISHED, [Beside(values)])
    assert outcomes(pairs) == {"AB": "cannot be told", "AC": "holds", "BC": "holds"}
    assert of_column(pairs) is Outcome.cannot_be_told
    assert pairs[0].detectable == welch_detectable(values["A"].interval, values["B"].interval, tests=3)
    assert [pair.detectable for pair in pairs[1:]] == [None, None]


def test_a_row_that_lost_runs_is_compared_with_nothing() -> None:
    """Of A's five runs two have a value, the best: they say nothing about the others."""
    values = ours(A=1.0, B=5.0, C=9.0)
    pairs = compare(PUBLISHED, [Beside(values | {"A": replace(values["A"], lost=3)})])
    assert outcomes(pairs) == {"AB": "cannot be told", "AC": "cannot be told", "BC": "holds"}
    assert {(pair.p_value, pair.detectable) for pair in pairs if "A" in pair.rows} == {(None, None)}


def test_a_row_without_any_value_is_compared_with_nothing() -> None:
    """Nor does a record of a smaller scale stand in for it."""
    none = {"A": Measured(None, False, "sampler", lost=5)}
    beside = [Beside(ours(A=1.0, B=5.0, C=9.0) | none, source="paper"), Beside(ours(A=1.0, B=5.0))]
    pairs = compare(PUBLISHED, beside)
    assert outcomes(pairs) == {"AB": "cannot be told", "AC": "cannot be told", "BC": "holds"}
    told = {(pair.ours, pair.test, pair.p_value, pair.detectable) for pair in pairs if "A" in pair.rows}
    assert told == {(None, "", None, None)}
    assert {pair.source for pair in pairs} == {"paper"}


def test_p_values_are_corrected_over_the_column() -> None:
    values = ours(A=1.0, B=1.2, C=1.4)
    found = compare(PUBLISHED, [Beside(values)])
    plain = [welch_p_value(values[a].interval, values[b].interval) for a, b in ("AB", "AC", "BC")]
    assert {pair.test for pair in found} == {"Welch"}
    assert [pair.p_value for pair in found] == holm(plain)
    assert found[0].p_value != plain[0]


def test_a_pair_is_told_by_the_first_record_that_has_both() -> None:
    larger = Beside(ours(A=1.0, B=5.0), source="paper")
    smaller = Beside(ours(A=5.0, B=1.0, C=9.0), at_floor=["A", "C"], source="quick")
    found = compare(PUBLISHED, [larger, smaller])
    assert outcomes(found) == {"AB": "holds", "AC": "not rankable", "BC": "holds"}
    assert [pair.source for pair in found] == ["paper", "quick", "quick"]
    plain = [
        welch_p_value(one.ours[a].interval, one.ours[b].interval)
        for one, (a, b) in ((larger, "AB"), (smaller, "AC"), (smaller, "BC"))
    ]
    assert [pair.p_value for pair in found] == holm(plain)


@pytest.mark.parametrize(
    ("published", "values", "options", "outcome"),
    [
        ({"A": 1.0, "B": 1.0}, ours(A=1.0, B=9.0), {}, "tied as published"),
        ({"A": 1.0, "B": 2.0}, ours(A=1.0), {}, "not measured"),
        ({"A": 1.0, "B": 2.0}, ours(A=1.0, B=9.0), {"floor": "void"}, "not rankable"),
        ({"A": 1.0, "B": 2.0}, ours(A=1.0, B=9.0), {"at_floor": ["A", "B"]}, "not rankable"),
        ({"A": 1.0, "B": 2.0}, ours(A=1.0, B=9.0), {"at_floor": ["A"]}, "holds"),
    ],
)
def test_pairs_that_are_not_tested(published, values, options, outcome) -> None:  # type: ignore[no-untyped-def]
    pairs = compare(published, [Beside(values, **options)])
    assert [pair.outcome.value for pair in pairs] == [outcome]
    assert of_column(pairs).value == outcome


def test_one_seed_has_no_test_and_no_smallest_difference() -> None:
    lone = {row: Interval(mean, None, None, None, 1) for row, mean in PUBLISHED.items()}
    values = {row: Measured(interval, False, "sampler") for row, interval in lone.items()}
    pairs = compare(PUBLISHED, [Beside(values)])
    assert {pair.outcome for pair in pairs} == {Outcome.cannot_be_told}
    assert {(pair.p_value, pair.detectable) for pair in pairs} == {(None, None)}


def test_rows_with_common_seeds_are_paired() -> None:
    """Models that differ by 10 hide a difference of 1 from Welch's test, and not from the paired one."""
    models, noise = (10.0, 20.0, 30.0, 40.0), (0.02, -0.01, 0.03, -0.04)
    a = dict(enumerate(models))
    b = {seed: value + 1 + eps for (seed, value), eps in zip(a.items(), noise, strict=True)}
    kept = {
        row: Measured(span, False, "sampler", seeds)
        for row, seeds in (("A", a), ("B", b))
        if (span := interval(list(seeds.values()))) is not None
    }
    (pair,) = compare({"A": 1.0, "B": 2.0}, [Beside(kept)])
    assert (pair.test, pair.outcome.value, pair.p_value) == ("paired", "holds", paired_p_value(a, b))
    (unpaired,) = compare(
        {"A": 1.0, "B": 2.0}, [Beside({row: replace(one, seeds={}) for row, one in kept.items()})]
    )
    assert (unpaired.test, unpaired.outcome.value) == ("Welch", "cannot be told")
    noisy = kept | {"B": replace(kept["B"], seeds={0: 11.0, 1: 15.0, 7: 99.0})}
    (told,) = compare({"A": 1.0, "B": 2.0}, [Beside(noisy)])
    assert told.ours == pytest.approx(-2.0)
    assert told.detectable == detectable_difference(a, noisy["B"].seeds)


def test_common_seeds_do_not_order_rows_against_the_means_of_all() -> None:
    """Three easy models of A's ten are B's too: B is worse on these, but the better one over all."""
    a, b = {seed: 1.0 + 0.01 * seed if seed < 3 else 9.0 for seed in range(10)}, {0: 2.0, 1: 2.02, 2: 2.01}
    kept = {
        row: Measured(interval(list(seeds.values())), False, "sampler", seeds)
        for row, seeds in (("A", a), ("B", b))
    }
    (pair,) = compare({"A": 1.0, "B": 2.0}, [Beside(kept)])
    assert pair.ours is not None
    assert pair.p_value is not None
    assert (pair.test, pair.ours > 0, pair.p_value < 0.01) == ("paired", True, True)
    assert pair.outcome.value == "cannot be told"
    (same,) = compare(
        {"A": 1.0, "B": 2.0}, [Beside(kept | {"A": replace(kept["A"], interval=kept["B"].interval)})]
    )
    assert same.outcome.value == "holds"


def test_rows_of_two_folders_are_not_paired() -> None:
    """The same seed of two machines gives other random numbers; both folders are named."""
    a = {0: 10.0, 1: 20.0, 2: 30.0}
    b = {seed: value + 1 + 0.01 * seed for seed, value in a.items()}
    kept = {
        row: Measured(interval(list(seeds.values())), False, "sampler", seeds, folder=folder)
        for row, seeds, folder in (("A", a, "whole"), ("B", b, "whole-part"))
    }
    (pair,) = compare({"A": 1.0, "B": 2.0}, [Beside(kept)])
    assert (pair.test, pair.folders) == ("Welch", ("whole", "whole-part"))
    assert pair.p_value == welch_p_value(kept["A"].interval, kept["B"].interval)
    (same,) = compare({"A": 1.0, "B": 2.0}, [Beside(kept | {"B": replace(kept["B"], folder="whole")})])
    assert (same.test, same.folders) == ("paired", ("whole",))
