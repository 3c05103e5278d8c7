"""A number as a reading writes it: with as many decimals and in the notation of the one that it replaces."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

MINUS = "\N{MINUS SIGN}"
ROUNDED = {
    "smallest": ROUND_HALF_EVEN,
    "largest": ROUND_HALF_EVEN,
    "at least": ROUND_FLOOR,
    "at most": ROUND_CEILING,
}
"""How each answer to which of several numbers is meant is rounded."""


def written(value: float, like: str, rounding: str) -> str:
    """`value` with as many decimals as `like`, in its notation."""
    digits = len(like.partition("e")[0].partition(".")[2])
    exact = Decimal(f"{value:.12g}") if rounding != ROUND_HALF_EVEN else Decimal(value)
    if "e" in like:
        last = (math.floor(math.log10(abs(value))) if value else 0) - digits
        exact = exact.quantize(Decimal((0, (1,), last)), rounding)
        mantissa, _, exponent = f"{exact:.{digits}e}".partition("e")
        text = f"{mantissa}e{int(exponent)}"
    else:
        exact = exact.quantize(Decimal((0, (1,), -digits)), rounding)
        text = f"{exact:{',' if ',' in like else ''}.{digits}f}"
    return MINUS + text[1:] if like[0] == MINUS and text[0] == "-" else text
