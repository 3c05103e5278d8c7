"""Numbers are printed with the digits that their interval supports."""

from __future__ import annotations

import re

import pytest

from runner.report.analysis.compared_rows import compared_rows
from runner.report.analysis.comparison import compared
from runner.report.numerals import Numeral, numeral, power_of_ten
from runner.report.runs.stored_results import Results
from tests.support.tables import finished, shape_from


@pytest.mark.parametrize(
    ("mean", "margin", "scale", "written"),
    [
        (0.0012144, 0.0000582, 1e-3, Numeral("1.214", "0.058")),
        (371.04, 30.2, 1.0, Numeral("371", "30")),
        (2000.0, None, 1.0, Numeral("2,000")),
        (0.123456, None, 1.0, Numeral("0.1235")),
        (0.99999812, 7.4e-7, 1.0, Numeral("0.99999812", "7.4e-07")),
        (0.99999992, 3.1e-8, 1.0, Numeral("0.999999920", "3.1e-08")),
        (0.5, 1e-30, 1.0, Numeral("0.500000000000000", "1.0e-30")),
        (3.2e-7, 1e-8, 1.0, Numeral("3.20e-07", "1.0e-08")),
        (0.0, None, 1.0, Numeral("0")),
        (-0.5, 0.25, 1.0, Numeral("-0.50", "0.25")),
        (-0.3, 12.0, 1.0, Numeral("0", "12")),
        (-6.2e-4, 0.86, 1.0, Numeral("0.00", "0.86")),
        (2.5e5, 1e3, 1.0, Numeral("2.500e+05", "1.0e+03")),
        (123456.0, 2.0, 1.0, Numeral("1.234560e+05", "2.0e+00")),
        (8.5e-4, 2e-4, 1.0, Numeral("8.5e-04", "2.0e-04")),
        (3e-7, 1e-5, 1.0, Numeral("3e-07", "1.0e-05")),
        (1.5e-7, 0.0, 1.0, Numeral("1.50e-07", "0.0e+00")),
        (1.033e19, None, 1.0, Numeral("1.03e+19")),
    ],
)
def test_digits(mean: float, margin: float | None, scale: float, written: Numeral) -> None:
    assert numeral(mean, margin, scale) == written


def test_units_are_powers_of_ten() -> None:
    assert power_of_ten(1e-3) == -3
    assert power_of_ten(1.0) == 0
    assert power_of_ten(0.5) is None


@pytest.mark.parametrize(
    ("size", "written"),
    [
        (1.0, "12.3 against 12.3, difference"),
        (100.0, "1232 against 1228, difference"),
        (1e4, "1.232e+05 against 1.228e+05, difference"),
    ],
)
def test_sentences_write_large_numbers_as_tables_do(size: float, written: str) -> None:
    """Beside a difference of 43 ± 41 stood a detectable one of 1e+02."""
    block = """
title: t
caption: c
rows: [{row: A}, {row: B}]
columns: [{label: a, where: {}}]
metrics: [{metric: m, name: M, direction: min}]
comparisons: [{metric: m, rows: [A, B]}]
"""
    values = {"A": [12.0, 12.5, 12.4, 12.38], "B": [12.1, 12.3, 12.6, 12.1]}
    runs = [
        finished(row, "a", seed, {}, {"m": size * value})
        for row, each in values.items()
        for seed, value in enumerate(each)
    ]
    (said,) = compared(compared_rows(shape_from(block), Results(tuple(runs), random_runs=True)))
    assert f"A against B, {written}" in said
    found = [re.search(pattern, said) for pattern in (r" ± (\S+)", r": (\S+)\)\.$")]
    assert ["e" in each[1] for each in found if each] == [False, False]
