"""Numbers are printed with the digits that their interval supports."""

from __future__ import annotations

import pytest

from runner.report.numerals import Numeral, as_printed, numeral, power_of_ten


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


def test_published_numbers_keep_their_decimals_and_units_are_powers_of_ten() -> None:
    assert as_printed(-452.97, 6.1, 2) == Numeral("-452.97", "6.10")
    assert as_printed(2.03, 0.012) == Numeral("2.030", "0.012")
    assert as_printed(2.03, None) == Numeral("2.030")
    assert power_of_ten(1e-3) == -3
    assert power_of_ten(1.0) == 0
    assert power_of_ten(0.5) is None
