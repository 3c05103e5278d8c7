"""The rule of a verdict on made-up numbers: the boundary of each, in their order."""

from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metrics.inference.few_seeds import Interval
from metrics.inference.prediction import prediction_interval
from runner.verdicts.rule import Evidence, Verdict, verdict

EVIDENCE = Evidence(published=10.0, rounding=0.005, matters=8.0, ours=Interval(10.0, 1.0, 9.0, 11.0, 6))
HALF = float(stats.t.ppf(0.975, 5)) * math.sqrt(7 / 6)
"""Half the width of the prediction interval of `EVIDENCE`."""

some = st.floats(-1e3, 1e3)


def of(**changes: object) -> Verdict:
    return verdict(replace(EVIDENCE, **changes))[0]  # type: ignore[arg-type]


def test_a_number_agrees_up_to_the_end_of_the_interval_and_its_last_digit() -> None:
    for sign in (1, -1):
        assert of(published=10 + sign * (HALF + 0.0049)) is Verdict.agrees
        assert of(published=10 + sign * (HALF + 0.0051)) is Verdict.differs


def test_an_interval_that_holds_a_whole_column_decides_nothing() -> None:
    assert of(matters=2 * HALF + 1e-9) is Verdict.agrees
    assert of(matters=2 * HALF - 1e-9) is Verdict.undecided
    assert of(matters=0.0, published=99.0) is Verdict.differs


def test_one_seed_decides_nothing() -> None:
    assert of(ours=Interval(10.0, None, None, None, 1)) is Verdict.undecided


def test_runs_without_a_value_decide_nothing() -> None:
    assert verdict(replace(EVIDENCE, lost=2)) == (Verdict.undecided, "2 of 8 runs have no value")


def test_runs_none_of_which_has_a_value_decide_nothing() -> None:
    none = replace(EVIDENCE, ours=None, lost=4)
    assert verdict(none) == (Verdict.undecided, "4 of 4 runs have no value")
    absent = (Verdict.undecided, "4 of 4 runs have no value (4 of 5 runs are recorded)")
    assert verdict(replace(none, absent=1)) == absent
    assert verdict(replace(none, floor="floor void")) == (Verdict.not_rankable, "floor void")
    assert verdict(replace(none, differs={"data": "half of it"})) == (Verdict.not_comparable, "data")
    assert verdict(replace(none, lost=0)) == (Verdict.not_measured, "no record holds it")


def test_a_verdict_from_a_part_of_the_runs_says_so() -> None:
    part = replace(EVIDENCE, absent=4)
    assert verdict(part) == (Verdict.agrees, "in our interval (6 of 10 runs are recorded)")
    assert verdict(replace(part, published=99.0))[1] == "above our interval (6 of 10 runs are recorded)"
    lost = (Verdict.undecided, "2 of 8 runs have no value (8 of 12 runs are recorded)")
    assert verdict(replace(part, lost=2)) == lost
    assert verdict(replace(part, differs={"data": "half of it"})) == (Verdict.not_comparable, "data")


def test_without_variance_only_the_printed_digits_count() -> None:
    ours = Interval(10.004, 0.0, None, None, 3)
    assert of(ours=ours) is Verdict.agrees
    assert of(ours=ours, published=9.998) is Verdict.differs


@given(published=some, mean=some, sd=st.floats(1e-3, 1e3), n=st.integers(2, 50), matters=st.floats(0, 1e3))
def test_every_number_with_an_interval_gets_one_of_three(
    published: float, mean: float, sd: float, n: int, matters: float
) -> None:
    ours = Interval(mean, sd, None, None, n)
    evidence = Evidence(published, 0.0, matters, ours)
    lo, hi = prediction_interval(ours) or (0.0, 0.0)
    found = verdict(evidence)[0]
    assert (found is Verdict.differs) == (not lo <= published <= hi)
    assert (found is Verdict.agrees) == (lo <= published <= hi and hi - lo <= matters)
    # What comes first in the rule overrides it, whatever the numbers are.
    assert verdict(replace(evidence, at_floor=True))[0] is Verdict.not_rankable
    floor = replace(evidence, floor="floor void")
    assert verdict(floor) == (Verdict.not_rankable, "floor void")
    other = replace(floor, differs={"data": "half of it", "budget": "less"})
    assert verdict(other) == (Verdict.not_comparable, "data, budget")
    assert verdict(replace(other, ours=None))[0] is Verdict.not_measured
