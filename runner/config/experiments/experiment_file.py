"""The file of an experiment, as Hydra composes it, and what in it is not as an experiment needs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hydra.core.override_parser.types import Override

from runner.config.choices import LABEL
from runner.config.overrides import EXPERIMENT, Names
from runner.execution.errors import UserError, listed, nearest

PACKAGE = "# @package _global_"
"""The line by which the keys of a file are those of the whole configuration, not of `experiment`."""


def experiment_content(name: str, names: Names) -> dict[str, Any]:
    """What the experiment `name` composes to.

    Raises:
        UserError: if its file lacks the line `PACKAGE`, or it has no key `experiment` or
            that of another one.
    """
    composed = names.composed(f"+{EXPERIMENT}={name}")
    label = composed.get(EXPERIMENT)
    if isinstance(label, Mapping):
        raise UserError(f"The experiment {name} needs the line '{PACKAGE}' at the top of its file.")
    if label is None and ("table" in composed or (composed.get("sweep") or {}).get("rows")):
        raise UserError(
            f"The experiment {name} needs the key experiment: {name}, by which its runs are found."
        )
    if label is not None and str(label) != name:
        raise UserError(
            f"The key experiment of the experiment {name} must be {name}, as its file is called, "
            f"'{label}' was given."
        )
    return composed


def table_not_run(given: Sequence[Override], names: Names) -> str | None:
    """The experiment of a command that composes none of its jobs, unless a target or a sampler is given, too.

    Args:
        given: overrides of a command that has no use for the rows of a table.

    Returns:
        Its name; None where there is no experiment, or one without rows.
    """
    if {each.key_or_group.split(".", 1)[0] for each in given} & {"target", "sampler"}:
        return None
    return None if (named := named_sweep(given, names)) is None else named[0]


def named_sweep(given: Sequence[Override], names: Names) -> tuple[str, dict[str, Any]] | None:
    """The experiment that overrides name, and its `sweep`; None where they name none, or one without rows."""
    name = next((str(each.value()) for each in given if each.key_or_group == EXPERIMENT), None)
    block = (experiment_content(name, names).get("sweep") or {}) if name is not None else {}
    return (name, block) if name is not None and block.get("rows") else None


def check_searched(given: Sequence[Override], names: Names) -> None:
    """Refuses an experiment in a search, whose trials would be none of its jobs.

    Raises:
        UserError: naming it.
    """
    for each in given:
        if each.key_or_group == LABEL:
            raise UserError(f"{LABEL} chooses rows of a table, and a search computes none.")
        if each.key_or_group == EXPERIMENT and each.is_sweep_override():
            raise UserError(f"+{EXPERIMENT} must be one name in a search, '{each.input_line}' was given.")
    if (name := table_not_run(given, names)) is not None:
        raise UserError(
            f"A search takes no table of jobs, +{EXPERIMENT}={name} was given: it needs target=NAME or "
            "sampler=NAME to say what it searches."
        )


def check_scales(place: str, given: Iterable[Any], composed: Mapping[str, Any], names: Names) -> None:
    """Refuses a key that is to be the name of a scale and is none.

    Args:
        place: where the keys stand, in words.
        composed: the experiment, which may name a scale of its own by `scale.name`.

    Raises:
        UserError: with the nearest scale.
    """
    scales = {*names.options("scale"), str((composed.get("scale") or {}).get("name"))}
    for scale in map(str, given):
        if scale not in scales:
            hint = nearest(scale, scales) or "."
            raise UserError(f"{place} has the unknown scale '{scale}'{hint} Allowed: {listed(scales)}.")
