"""Keys that take whole numbers alone: their intervals are searched in these, without the tag ``int``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hydra.core.override_parser.types import Override

from runner.config.overrides import parse
from runner.execution.errors import UserError
from runner.sweep.jobs import requested
from runner.sweep.search.interval import WHOLE, SearchInterval, search_interval

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
"""Where in an interval a number is taken that is not whole."""


def in_whole_numbers(space: Mapping[str, Override], lines: Sequence[str]) -> dict[str, Override]:
    """`space` with the tag ``int`` at the intervals of keys that refuse other numbers, such as task.chains.

    Args:
        lines: overrides with which one job can be composed, each key of `space` among them.

    Raises:
        UserError: for an interval that is refused.
    """
    return {key: _tagged(key, each, lines) for key, each in space.items()}


def _tagged(key: str, override: Override, lines: Sequence[str]) -> Override:
    if not override.is_interval_sweep() or (found := search_interval(override)).whole:
        return override
    first, inside = math.ceil(found.low), _not_whole(found)
    if not _refused(f"{key}={inside}", lines) or _refused(f"{key}={first}", lines):
        return override
    name, _, swept = (override.input_line or "").partition("=")
    (tagged,) = parse(
        [f"{name}=tag({WHOLE},{swept.removeprefix('tag(')}{'' if swept.startswith('tag(') else ')'}"]
    )
    return tagged


def _not_whole(found: SearchInterval) -> float:
    number = found.low + GOLDEN * (found.high - found.low)
    return number if number != math.floor(number) else found.low + GOLDEN**2 * (found.high - found.low)


def _refused(line: str, lines: Sequence[str]) -> bool:
    """Whether the checks that need no torch refuse a job with `line`."""
    try:
        return not requested([*lines, line], multirun=False).configs
    except UserError:
        return True
