"""How many of several numbers there are, or how many of them fit a condition.

``how many`` counts them all, ``how many below 0.05`` and ``how many above 0`` those beyond a number, and
``how many predicted`` those published ones that lie where one more run of ours is expected, without the
rounding of their last digit that a verdict allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

COUNT = "how many"
COUNTS = (COUNT, f"{COUNT} below 0.05", f"{COUNT} above 0", f"{COUNT} predicted")
"""Its forms, as a message names them."""

NUMBER = r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?"
FORM = re.compile(rf"{COUNT}(?: (?P<side>below|above) (?P<limit>{NUMBER})| (?P<predicted>predicted))?")

Place = list[str]
ValueAt = Callable[[Place, str], float | None]
"""What gives a number of a place, such as its ``prediction_lo``; None where there is none."""


def is_count(which: str | None) -> bool:
    """Whether `which` asks for a count."""
    return which is not None and FORM.fullmatch(which) is not None


def asks_prediction(which: str) -> bool:
    """Whether the count `which` is of published numbers alone."""
    return which.endswith("predicted")


def counted(found: Iterable[tuple[Place, float]], which: str, value_at: ValueAt) -> int | None:
    """How many of the numbers `found` fit the count `which`; None where one has no prediction to lie in."""
    asked = FORM.fullmatch(which)
    assert asked is not None
    number = 0
    for place, value in found:
        if asked["predicted"]:
            lo, hi = (value_at(place, end) for end in ("prediction_lo", "prediction_hi"))
            if lo is None or hi is None:
                return None
            number += lo <= value <= hi
        elif asked["side"] is None:
            number += 1
        else:
            limit = float(asked["limit"])
            number += value < limit if asked["side"] == "below" else value > limit
    return number
