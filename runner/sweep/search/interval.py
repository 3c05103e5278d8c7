"""The interval of a search as the command writes it: ``tag(int,log,interval(1,400))``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.types import Override

from runner.execution.errors import UserError

WHOLE, LOGARITHMIC = "int", "log"
"""Tags of an interval: its whole numbers alone; numbers even by their logarithm."""


@dataclass(frozen=True)
class SearchInterval:
    """What a key is searched in; the ends of one of whole numbers are whole."""

    low: float
    high: float
    whole: bool
    logarithmic: bool


def search_interval(override: Override) -> SearchInterval:
    """The interval of a sweep over one.

    Raises:
        UserError: for a tag that is not known, an end that is not finite, or nothing to search inside.
    """
    line = override.input_line
    swept: Any = override.value()
    if others := sorted(swept.tags - {WHOLE, LOGARITHMIC}):
        raise UserError(f"The tags of an interval are {WHOLE} and {LOGARITHMIC}, '{line}' has {others[0]}.")
    whole, logarithmic = WHOLE in swept.tags, LOGARITHMIC in swept.tags
    low, high = float(swept.start), float(swept.end)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise UserError(f"'{line}' must have two finite ends.")
    if not low < high or (logarithmic and low <= 0):
        above = ", both above 0" if logarithmic else ""
        raise UserError(f"'{line}' must go from a smaller to a larger number{above}.")
    if whole:
        low, high = math.ceil(low), math.floor(high)
        if not low < high:
            raise UserError(f"'{line}' must hold two whole numbers or more.")
    return SearchInterval(low, high, whole, logarithmic)
