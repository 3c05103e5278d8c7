"""What a command lets each key be: single values, sweeps, seeds in batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from hydra._internal.grammar import grammar_functions
from hydra.core.override_parser.types import (
    ChoiceSweep,
    Glob,
    Override,
    QuotedString,
    RangeSweep,
    Sweep,
    Transformer,
    TransformerType,
)

from runner.config.output_root import KEY
from runner.execution.errors import UserError

Choices = dict[str, list[str]]
"""Key (with its ``+`` or ``~``) to the overrides that it may be."""

LABEL = "row"
"""Key of a row's label in an experiment, and of the labels that a command chooses."""

MOST_JOBS = 100_000
"""Jobs of a sweep, and values of one of its keys, at most."""

LARGEST_BATCH = 32
"""A sweep over seeds is cut into jobs of so many.

A list ``seed=[...]`` and the seeds of an experiment stay one job.
"""


def choices_of(overrides: Sequence[Override]) -> Choices:
    """What each key may be; of a key that is given twice, the last.

    Several values of `seed` are batches of seeds: they are computed together.

    Raises:
        UserError: for a sweep over an interval, which has no end of values, or over output roots.
    """
    choices: Choices = {}
    for override in overrides:
        key = override.get_key_element()
        if not override.is_sweep_override():
            choices[key] = [override.input_line or ""]
            continue
        check_one_root(override)
        if not override.is_discrete_sweep():
            raise UserError(f"A sweep needs a list of values or a range, '{override.input_line}' was given.")
        if key == LABEL and isinstance(override.value(), Glob):
            choices[key] = [override.input_line or ""]  # its labels are known to the experiment alone
            continue
        values = values_of(override, Transformer.str)
        if not values and isinstance(override.value(), Glob):
            raise UserError(
                f"'{override.input_line}' fits nothing; a pattern chooses among the names of a group."
            )
        if not values:
            raise UserError(f"'{override.input_line}' is a sweep over nothing.")
        if key == "seed" and not any(value.startswith("[") for value in values):
            batches = [values[at : at + LARGEST_BATCH] for at in range(0, len(values), LARGEST_BATCH)]
            values = [f"[{','.join(batch)}]" if len(batch) > 1 else batch[0] for batch in batches]
        choices[key] = [f"{key}={value}" for value in values]
    return choices


def patterns_among(overrides: Sequence[Override]) -> set[str]:
    """The keys of groups that have a pattern, ``sampler=glob(*dula)``."""
    found = {
        each.get_key_element()
        for each in overrides
        if not each.is_delete() and isinstance(each.value(), Glob)
    }
    return found - {LABEL}


def check_one_root(override: Override) -> None:
    """Refuses a sweep over output roots: a run is the same wherever it lies.

    Raises:
        UserError: naming the roots.
    """
    if override.key_or_group == KEY and override.is_sweep_override():
        raise UserError(f"{KEY} must be one folder for all jobs, '{override.input_line}' was given.")


def check_nesting(override: Override) -> None:
    """Refuses a sweep or a pattern among the values of another sweep, and a sweep inside a list or a group.

    Raises:
        UserError: naming the override.
    """
    if not override.is_delete() and _holds_sweep(override.value()):
        raise UserError(
            f"A range, a pattern or another sweep is the only value of its key, '{override.input_line}' was "
            "given; write its values out."
        )


def _holds_sweep(value: Any) -> bool:
    if isinstance(value, ChoiceSweep):
        return any(isinstance(each, Sweep | Glob) or _holds_sweep(each) for each in value.list)
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(each, Sweep) or _holds_sweep(each) for each in inside)


def _check_range(override: Override, swept: RangeSweep) -> None:
    """Refuses a range of too many values before they are listed.

    Raises:
        UserError: naming the range and the limit.
    """
    assert swept.start is not None
    assert swept.stop is not None
    number = (swept.stop - swept.start) / swept.step if swept.step else math.inf
    if not number <= MOST_JOBS:
        raise UserError(f"'{override.input_line}' must be a range of at most {MOST_JOBS:,} values.")


def values_of(override: Override, transformer: TransformerType = Transformer.identity) -> list[Any]:
    """The values of a sweep, those of a range as they are written: ``range(0.1,0.8,0.1)`` has 0.3, not 0.8.

    Hydra adds up the step: it has 0.30000000000000004, which is another run, and 0.7999999999999999.

    Args:
        transformer: what Hydra makes of each value, such as its text.

    Raises:
        UserError: for a range of too many values.
    """
    swept = override.value()
    if not isinstance(swept, RangeSweep):
        return list(override.sweep_iterator(transformer))
    _check_range(override, swept)
    values: list[Any] = list(override.sweep_iterator(transformer))
    assert swept.start is not None
    assert swept.stop is not None
    if not any(isinstance(part, float) for part in (swept.start, swept.step)):
        return values
    decimals = max(-int(Decimal(repr(part)).as_tuple().exponent) for part in (swept.start, swept.step))
    written = [(round(float(value), decimals), type(value)) for value in values]
    return [kind(value) for value, kind in written if (value - swept.stop) * swept.step < 0.0]


def sort(*args: Any, **named: Any) -> Any:
    """Hydra's ``sort(...)`` of an override; a range from its other end has the same numbers as before.

    Hydra begins one step before the stop: ``sort(range(1,10,4),reverse=true)`` had 6, 2 and -2, and the sums
    of decimal numbers are other numbers and other runs.
    """
    found = grammar_functions.sort(*args, **named)
    given = [value for value in (*args, named.get("sweep")) if isinstance(value, RangeSweep)]
    if not given or found.step == given[0].step:
        return found
    start, stop, step = (Decimal(repr(part)) for part in (given[0].start, given[0].stop, given[0].step))
    number = math.ceil((stop - start) / step)
    if number <= 0:
        return given[0]
    number_type = type(found.start)
    ends = {"start": start + (number - 1) * step, "stop": start - step, "step": -step}
    return replace(given[0], **{name: number_type(value) for name, value in ends.items()})


def glob(include: Any, exclude: Any = None) -> Glob:
    """Hydra's ``glob(...)`` of an override; patterns in a list may be in quotes, ``glob([pt_*,'d*'])``."""
    found = grammar_functions.glob(include, exclude)
    return Glob([_text(each) for each in found.include], [_text(each) for each in found.exclude])


def _text(pattern: Any) -> str:
    return pattern.text if isinstance(pattern, QuotedString) else str(pattern)


def check_number(jobs: int) -> None:
    """Refuses a sweep of too many jobs.

    Raises:
        UserError: with the limit.
    """
    if jobs > MOST_JOBS:
        raise UserError(f"A sweep must have at most {MOST_JOBS:,} jobs, {jobs:,} were asked for.")
