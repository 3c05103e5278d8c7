"""How a number with its interval is written: as many digits as the interval supports."""

from __future__ import annotations

import math
from dataclasses import dataclass

PLAIN_DECIMALS = 6
"""Decimals from which on a margin is written with an exponent; its mean keeps all that it supports."""

MOST_DECIMALS = 15
"""As many as float64 has."""


@dataclass(frozen=True)
class Numeral:
    """A number ready for print.

    Attributes:
        mean: digits of the mean.
        margin: digits of what follows the plus-minus sign; None where there is no interval.
    """

    mean: str
    margin: str | None = None


def numeral(mean: float, margin: float | None, scale: float = 1.0) -> Numeral:
    """`mean` and `margin` in units of `scale`; the margin gets two significant digits.

    Means below 0.001 (and margins with them) or from 100,000 on are written with an exponent, whole numbers
    with commas as far as float64 represents them exactly. The mean ends where the margin does.
    """
    value = mean / scale
    if margin is None and value.is_integer() and abs(value) < 2.0**53:
        return Numeral(f"{value:,.0f}")
    largest = max(abs(value), (margin or 0.0) / scale)
    if value != 0.0 and (largest < 1e-3 or abs(value) >= 1e5):
        return _with_exponent(value, None if margin is None else margin / scale)
    if margin is None or margin == 0.0:
        return Numeral(f"{value:.4g}")
    width = margin / scale
    decimals = max(1 - math.floor(math.log10(width)), 0)
    if decimals > PLAIN_DECIMALS:
        return Numeral(_fixed(value, min(decimals, MOST_DECIMALS)), f"{width:.1e}")
    return Numeral(_fixed(value, decimals), _fixed(width, decimals))


def _with_exponent(value: float, width: float | None) -> Numeral:
    """Both with an exponent; the last digit of the mean is of the order of the margin's last one."""
    if not width:
        return Numeral(f"{value:.2e}", None if width is None else f"{width:.1e}")
    digits = math.floor(math.log10(abs(value))) - math.floor(math.log10(width)) + 1
    return Numeral(f"{value:.{min(max(digits, 0), MOST_DECIMALS)}e}", f"{width:.1e}")


def _fixed(value: float, decimals: int) -> str:
    """So many decimals, and no minus sign before a zero."""
    text = f"{value:.{decimals}f}"
    return text if float(text) else text.lstrip("-")


def significant(value: float, digits: int, margin: float | None) -> str:
    """So many significant digits; where they would end before the point, all that the `margin` supports."""
    text = f"{value:.{digits}g}"
    return numeral(value, margin).mean if "e+" in text else text


def power_of_ten(scale: float) -> int | None:
    """The exponent of a unit such as 0.001; None where it is no power of ten."""
    exponent = round(math.log10(scale))
    return exponent if math.isclose(scale, 10.0**exponent, rel_tol=1e-12) else None
