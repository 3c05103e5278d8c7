"""Conditions on runs, written as on the command line: ``sampler=dmala,acs``, ``seed=range(0,3)``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from hydra.core.override_parser.types import Glob, Override

from runner.config.choices import values_of
from runner.config.overrides import parse
from runner.config.run_settings import as_named, as_setting
from runner.execution.errors import UserError, counted, listed, nearest

MOST_VALUES = 8
"""Values of a setting that a message names."""


class Described(Protocol):
    """What has settings that conditions are about."""

    @property
    def described(self) -> Mapping[str, Any]: ...


R = TypeVar("R", bound=Described)


def chosen_by(conditions: Sequence[str], runs: Iterable[R]) -> list[R]:
    """Those of `runs` that fit all `conditions`.

    ``key=value`` holds where the run's setting `key` has that value, ``key=a,b`` where it has one of them,
    ``key=glob(pt_*)`` where its text fits the pattern. Numbers are compared as numbers, files of a target by
    their names. A run that has no such setting does not fit. ``evaluations=2000`` is about what a run took.

    Raises:
        UserError: for a condition that cannot be read, or a key that none of the runs has.
    """
    kept = list(runs)
    known = list(dict.fromkeys(key for run in kept for key in run.described))
    for override in parse(conditions):
        key = override.key_or_group
        if override.is_delete() or override.is_add():
            raise UserError(f"A condition has the form key=value, '{override.input_line}' was given.")
        if known and key not in known:
            raise UserError(
                f"No run has the setting '{key}'{nearest(key, known) or '.'} There are: {listed(known)}."
            )
        kept = [run for run in kept if key in run.described and _fits(override, run.described)]
    return kept


def values_instead(conditions: Sequence[str], runs: Sequence[Described]) -> str:
    """What `runs` have of the settings that one of `conditions` alone leaves no run of; nothing for none.

    A setting that a run lacks is at the default of the class that takes it.
    """
    said = []
    for override in parse(conditions):
        key = override.key_or_group
        having = [run.described for run in runs if key in run.described]
        if any(_fits(override, described) for described in having):
            continue
        values = sorted({_written(described[key]) for described in having})
        more = f" and {len(values) - MOST_VALUES} more" if len(values) > MOST_VALUES else ""
        text = f"{key} is {', '.join(values[:MOST_VALUES])}{more}"
        if lacking := len(runs) - len(having):
            text += f" in {counted(len(having), 'run')}, and not set in {lacking}, where a default may hold"
        said.append(text)
    return "; ".join(said)


def _written(value: Any) -> str:
    """A value as a condition has it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _fits(override: Override, described: Mapping[str, Any]) -> bool:
    key: str = override.key_or_group
    wanted: Any = override.value()
    value = described[key]
    if isinstance(wanted, Glob):
        return value is not None and str(value) in wanted.filter([str(value)])
    if not override.is_sweep_override():
        # A run has one seed of a list.
        values = wanted if key == "seed" and isinstance(wanted, list) else [wanted]
        return any(_equal(as_named(each, key, described), value) for each in values)
    if not override.is_discrete_sweep():
        raise UserError(f"A condition needs values, '{override.input_line}' was given.")
    return any(_equal(as_named(each, key, described), value) for each in unquoted(override))


def unquoted(override: Override) -> list[Any]:
    """The values of a sweep, quoted ones as the text between the quotes."""
    return [Override._convert_value(each) for each in values_of(override)]


def _equal(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, bool) or isinstance(value, bool) or wanted is None or value is None:
        return wanted is value
    wanted, value = as_setting(wanted), as_setting(value)
    return wanted == value or str(wanted).strip("'\"") == str(value)
