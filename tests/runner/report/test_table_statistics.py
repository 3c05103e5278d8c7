"""Statistics of tables against brute force: quadrature of Student's density, closed tests, simulated coverage
and power.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

from metrics.inference.few_seeds import (
    detectable_difference,
    holm,
    interval,
    paired_p_value,
    standard_errors_found,
)
from runner.report.analysis.against_best import p_values_against


def student_density(t: np.ndarray, freedom: int) -> np.ndarray:
    log_constant = (
        math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    )
    return np.exp(log_constant - (freedom + 1) / 2 * np.log1p(t * t / freedom))


def student_mass(edge: float, freedom: int) -> float:
    """P(|T| <= edge), by Simpson's rule on 20,001 points."""
    t = np.linspace(-edge, edge, 20_001)
    weights = np.full(t.size, 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    return float((weights * student_density(t, freedom)).sum() * (t[1] - t[0]) / 3)


def closed_test(p_values: list[float]) -> list[float]:
    """Holm's adjusted p-values as the closed test over all subsets with Bonferroni's local test."""
    places = range(len(p_values))
    subsets = [s for size in range(1, len(p_values) + 1) for s in itertools.combinations(places, size)]
    return [
        max(min(1.0, len(s) * min(p_values[j] for j in s)) for s in subsets if place in s) for place in places
    ]


@pytest.mark.parametrize("n", [2, 3, 10])
def test_interval_holds_95_percent_of_students_distribution(n: int) -> None:
    values = np.random.default_rng(n).normal(3.0, 2.0, n)
    found = interval(list(values))
    mean = sum(values) / n
    sd = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1))
    assert found is not None
    assert found.margin is not None
    assert found.mean == pytest.approx(mean, rel=1e-12)
    assert found.sd == pytest.approx(sd, rel=1e-12)
    assert found.lo == pytest.approx(2 * mean - found.hi, rel=1e-12)
    assert student_mass(found.margin / (sd / math.sqrt(n)), n - 1) == pytest.approx(0.95, abs=1e-7)


def test_interval_covers_the_mean_as_often_as_it_says() -> None:
    """20,000 sets of 5 values: binomial, sd 0.0015; five of them either way is a false alarm of 6e-7."""
    draws = np.random.default_rng(0).normal(size=(20_000, 5))
    covered = 0
    for values in draws:
        found = interval(values)
        assert found is not None
        covered += found.lo <= 0.0 <= found.hi
    assert abs(covered / 20_000 - 0.95) < 5 * math.sqrt(0.95 * 0.05 / 20_000)


@pytest.mark.parametrize("n", [2, 4, 10])
def test_paired_p_value_is_the_tail_of_students_distribution(n: int) -> None:
    generator = np.random.default_rng(n)
    a = dict(enumerate(generator.normal(size=n)))
    b = {seed: value + 0.4 + 0.3 * generator.normal() for seed, value in a.items()}
    differences = [a[seed] - b[seed] for seed in a]
    mean = sum(differences) / n
    sd = math.sqrt(sum((value - mean) ** 2 for value in differences) / (n - 1))
    tail = 1 - student_mass(abs(mean) / (sd / math.sqrt(n)), n - 1)
    assert paired_p_value(a, b) == pytest.approx(tail, abs=1e-6)


@pytest.mark.parametrize(("n", "power"), [(2, 0.8), (3, 0.5), (10, 0.8)])
def test_a_detectable_difference_is_detected_as_often_as_it_says(n: int, power: float) -> None:
    """The share of rejections among 20,000 is binomial; a false alarm has a probability of 6e-7."""
    generator = np.random.default_rng(n)
    a = dict(enumerate(generator.normal(size=n)))
    b = dict(enumerate(generator.normal(size=n)))
    found = detectable_difference(a, b, power)
    assert found is not None
    assert detectable_difference(b, a, power) == pytest.approx(found, rel=1e-9)
    spread = np.std([a[seed] - b[seed] for seed in range(n)], ddof=1)
    differences = generator.normal(found, spread, (20_000, n))
    statistics = differences.mean(1) / (differences.std(1, ddof=1) / math.sqrt(n))
    critical = optimize.brentq(lambda edge: student_mass(edge, n - 1) - 0.95, 0.5, 40.0)
    rejected = np.mean(np.abs(statistics) > critical)
    assert abs(rejected - power) < 5 * math.sqrt(power * (1 - power) / 20_000)


@pytest.mark.filterwarnings("error")
def test_a_thousand_tests_of_two_seeds_are_no_matter_for_a_warning() -> None:
    """Of one degree of freedom, that is: the power at 16,334 standard errors is 0.8."""
    assert standard_errors_found(1, 0.8, tests=1000) == pytest.approx(16_334, rel=2e-3)


def test_a_detectable_difference_is_found_among_other_tests() -> None:
    """15 tests of five seeds under Holm's correction, 2,000 times: the one with a true difference is found as
    often as is said, where the difference of an uncorrected test is found in a fifth.
    """
    random, sd, tests = np.random.default_rng(3), 1.7, 15
    base = {
        seed: sd * value
        for seed, value in enumerate(np.array([-1.0, -0.5, 0.0, 0.5, 1.0]) / math.sqrt(0.625))
    }
    zero = dict.fromkeys(base, 0.0)
    found = [detectable_difference(base, zero), detectable_difference(base, zero, tests=tests)]
    hits = [0, 0]
    for values in random.normal(0.0, sd, (2_000, tests, 5)):
        for place, difference in enumerate(found):
            assert difference is not None
            own = [values[0] + difference, *values[1:]]
            p_values = holm([paired_p_value(dict(enumerate(each)), zero) for each in own])
            hits[place] += (p_values[0] or 0.0) < 0.05
    alone, among = (hit / 2_000 for hit in hits)
    assert alone < 0.3
    assert abs(among - 0.8) < 5 * math.sqrt(0.16 / 2_000)


@pytest.mark.parametrize("unit", [1e-170, 1e160])
def test_the_unit_of_the_values_changes_no_test(unit: float) -> None:
    a, b = {0: 1.0, 1: 2.5, 2: 3.0}, {0: 3.0, 1: 9.0, 2: 4.0}
    small, large = ({seed: unit * value for seed, value in values.items()} for values in (a, b))
    assert paired_p_value(small, large) == pytest.approx(paired_p_value(a, b), rel=1e-12)
    found, expected = detectable_difference(small, large), detectable_difference(a, b)
    assert found is not None
    assert found / unit == pytest.approx(expected, rel=1e-9)
    spans = interval(list(small.values())), interval(list(a.values()))
    assert spans[0] is not None
    assert spans[1] is not None
    assert (spans[0].margin or 0.0) / unit == pytest.approx(spans[1].margin, rel=1e-12)


def test_paired_p_value_pairs_by_seed_and_not_by_position() -> None:
    a = {0: 1.0, 1: 2.0, 2: 3.5}
    b = {2: 3.0, 1: 1.9, 0: 0.7, 9: 1000.0}
    assert paired_p_value(a, b) == paired_p_value(a, {0: 0.7, 1: 1.9, 2: 3.0})
    assert paired_p_value(a, b) != paired_p_value(a, {0: 3.0, 1: 1.9, 2: 0.7})


def test_holm_is_the_closed_test() -> None:
    for seed in range(20):
        p_values = list(np.random.default_rng(seed).uniform(0, 0.4, 1 + seed % 5))
        assert holm(p_values) == pytest.approx(closed_test(p_values), rel=1e-12), seed


def test_holm_with_ties_with_nothing_and_with_a_missing_test_that_does_not_count() -> None:
    assert holm([0.02, 0.02, 0.5]) == pytest.approx([0.06, 0.06, 0.5])
    assert holm([]) == []
    assert holm([0.01, None, 0.2]) == [pytest.approx(0.02), None, pytest.approx(0.2)]
    assert holm([None, 0.01]) == [None, 0.01]


def test_equal_samplers_are_seldom_called_different_from_the_best_of_them() -> None:
    """1,500 tables of 8 equal samplers and 5 seeds: a false mark in at most 5 %, where Holm's correction over
    the seven tests alone gives 10 %. The binomial standard errors are 0.006 and 0.008.
    """
    random, wrong, unadjusted = np.random.default_rng(0), 0, 0
    for table in random.normal(size=(1_500, 8, 5)):
        values = {str(row): dict(enumerate(map(float, each))) for row, each in enumerate(table)}
        best = min(values, key=lambda row: np.mean(list(values[row].values())))
        p_values = p_values_against(best, values, values)
        assert p_values.keys() == values.keys() - {best}
        wrong += any(p is not None and p < 0.05 for p in p_values.values())
        against = holm([paired_p_value(values[row], values[best]) for row in p_values])
        unadjusted += any(p is not None and p < 0.05 for p in against)
    assert wrong / 1_500 < 0.06
    assert unadjusted / 1_500 > 0.07


def test_shared_seeds_that_contradict_the_choice_of_the_best_make_no_difference() -> None:
    """A is better for each seed that both have; B has the better mean, since A's other seeds are bad."""
    values = {
        "A": {0: 1.0, 1: 1.1, 2: 0.95, 3: 9.0, 4: 8.0, 5: 9.5},
        "B": {0: 2.0, 1: 2.11, 2: 1.96},
    }
    assert (paired_p_value(values["A"], values["B"]) or 1.0) < 0.01
    assert p_values_against("B", values, values) == {"A": 1.0}
    agreeing = {"A": values["A"], "B": {seed: value - 1.5 for seed, value in values["B"].items()}}
    (p_value,) = p_values_against("B", agreeing, agreeing).values()
    assert p_value == paired_p_value(agreeing["A"], agreeing["B"])


def test_a_row_of_one_seed_moves_no_p_value() -> None:
    """Its pairs have no test; they were counted, and made another pair's p four times as large."""
    values = {
        name: dict(enumerate(np.random.default_rng(seed).normal(size=5))) for seed, name in enumerate("ABCD")
    }
    with_one = {**values, "E": {0: 0.3}}
    assert p_values_against("B", with_one, with_one) == {**p_values_against("B", values, values), "E": None}


def test_pairs_that_cannot_hold_the_best_are_not_tested() -> None:
    """Of three samplers that are not exact and one that is, three pairs hold the one that can be the best."""
    values = {
        name: dict(enumerate(np.random.default_rng(seed).normal(size=4))) for seed, name in enumerate("ABCD")
    }
    plain = {name: paired_p_value(values["B"], values[name]) for name in "ACD"}
    assert p_values_against("B", ["B"], values) == dict(zip("ACD", holm(list(plain.values())), strict=True))
    pairs = [paired_p_value(values[one], values[other]) for one, other in itertools.combinations("ABCD", 2)]
    found = closed_test([p for p in pairs if p is not None])
    assert list(p_values_against("B", "ABCD", values).values()) == pytest.approx(
        [found[0], found[3], found[4]]
    )


def test_the_mean_of_the_largest_numbers_is_finite() -> None:
    """Their sum is not. The mean of all others has the bits of NumPy's."""
    large = interval([1.7e308, 1.7e308])
    assert large is not None
    assert (large.mean, large.sd, large.n) == (1.7e308, 0.0, 2)
    rng = np.random.default_rng(0)
    for n in range(1, 200):
        values = rng.standard_normal(n) * 10.0 ** rng.integers(-290, 290)
        found = interval(list(values))
        assert found is not None
        assert found.mean == values.mean()


def test_where_the_data_say_nothing_there_is_none_and_never_nan() -> None:
    assert interval([]) is None
    one = interval([0.7])
    assert one is not None
    assert (one.mean, one.sd, one.lo, one.hi, one.margin, one.n) == (0.7, None, None, None, None, 1)
    same = interval([0.1 + 0.2, 0.3, 0.3])
    assert same is not None
    assert (same.sd, same.lo, same.hi, same.n) == (0.0, None, None, 3)
    assert paired_p_value({0: 1.0}, {0: 2.0}) is None
    assert paired_p_value({0: 1.0, 1: 2.0}, {2: 1.0, 3: 2.0}) is None
    assert paired_p_value({0: 1.0, 1: 2.0, 2: 3.0}, {0: 0.9, 1: 1.9, 2: 2.9}) is None
    assert paired_p_value({0: 1.0, 1: 2.0}, {0: 1.0, 1: 2.0}) is None
    assert detectable_difference({0: 1.0}, {0: 2.0}) is None
    assert detectable_difference({0: 1.0, 1: 2.0, 2: 3.0}, {0: 0.9, 1: 1.9, 2: 2.9}) is None
    with pytest.raises(ValueError, match="values must be finite, nan was given"):
        interval([1.0, math.nan])
