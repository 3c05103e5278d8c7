"""The jobs of an experiment before they are composed: the grid and the rows of its `sweep` block.

::

    sweep:
      grid: {target.dataset: [mnist, caltech]}      # every combination of these
      rows: [{row: DMALA, sampler: dmala}, ...]     # with each of these
      overrides: {task.start: random}               # under these
      scales:                                       # what differs at a scale
        smoke: {target.dataset: [digits], target.n_hidden: 32}
      seeds: {smoke: 2, quick: 3, paper: 5}         # instead of those of the scale
      one_job_per_seed: true                        # each seed is a job of its own

A row may have `seeds` of its own, and `scales` with overrides of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from omegaconf import DictConfig

from runner.config.choices import LABEL, Choices, check_number
from runner.config.experiments.chosen_rows import chosen_rows
from runner.config.experiments.experiment_file import experiment_content
from runner.config.experiments.override_meaning import meaning, read
from runner.config.experiments.rows_at_scale import RowsAtScale, as_choices
from runner.config.experiments.sweep_block import OF_A_ROW, check_block
from runner.config.overrides import EXPERIMENT, FORCED, Names
from runner.config.values import seeds_of, seeds_per_job
from runner.execution.errors import UserError, listed


@dataclass(frozen=True)
class Plan:
    """A job before it is composed.

    Attributes:
        overrides: what makes the configuration.
        row: label of the experiment's row; empty outside an experiment.
        cell: the grid point, key to value.
        seeds: how many seeds it has where none are given; None for those of the scale.
        one_job_per_seed: whether each seed is a job of its own, since its configuration differs.
        in_sweep: whether the command is a sweep, whose jobs may be parts of a plan.
    """

    overrides: list[str]
    row: str = ""
    cell: dict[str, Any] = field(default_factory=dict)
    seeds: int | None = None
    one_job_per_seed: bool = False
    in_sweep: bool = True


def seeds_by_job(plan: Plan, config: DictConfig) -> list[list[int]]:
    """The seeds of each job that `plan` makes: one, ``sweep.seeds_per_job`` at most, or all.

    Raises:
        UserError: for seeds that are refused, or a wrong ``sweep.seeds_per_job``.
    """
    seeds = seeds_of(config)
    most = seeds_per_job(config) if plan.in_sweep else None
    size = 1 if plan.one_job_per_seed else most or len(seeds)
    return [seeds[first : first + size] for first in range(0, len(seeds), size)]


def every_combination(choices: Choices) -> Iterator[tuple[str, ...]]:
    """Every combination, the last key running fastest."""
    return itertools.product(*choices.values())


def experiment_plans(choices: Choices, names: Names, patterns: Collection[str] = ()) -> list[Plan]:
    """Grid x rows of the experiment in `choices`, under the other overrides, at each scale that is given.

    `rows_at_scale` says what a value of the command does; ``row`` chooses rows by their labels.

    Args:
        patterns: keys whose values are what fits a pattern, some of which may be of no row.

    Raises:
        UserError: if the experiment has no sweep, its file or its sweep has a mistake, a value is given that
            no row has, no row is left, or there are too many jobs.
    """
    experiment = choices[f"+{EXPERIMENT}"][0]
    name = experiment.split("=", 1)[1]
    composed = experiment_content(name, names)
    block = composed.get("sweep")
    if not isinstance(block, Mapping) or not block.get("rows"):
        raise UserError(f"The experiment {name} has no sweep.rows to run.")
    check_block(name, composed, names)
    user = _as_named({key: lines for key, lines in choices.items() if key != f"+{EXPERIMENT}"}, block)
    labels = user.pop(LABEL, [])
    rows = chosen_rows(name, block["rows"], labels)
    which = f"The {'chosen ' if labels else ''}rows of the experiment {name}"
    at_scales = [(scale, RowsAtScale(block, rows, scale, given)) for scale, given in _scales(user, composed)]
    choosing = sorted(set().union(*(at_scale.choosing for _, at_scale in at_scales)))
    fitting = {key.removeprefix(FORCED) for key in patterns}
    for key in choosing:
        if not any(at_scale.may_be_any(key) for _, at_scale in at_scales):
            of_rows = [line for _, at_scale in at_scales for line in at_scale.values(key)]
            _check_values(which, of_rows, user[key], pattern=key in fitting)
    plans: list[Plan] = []
    for scale, at_scale in at_scales:
        plans += _plans_at(experiment, block, scale, at_scale)
    if not plans:
        raise UserError(f"{which} have no {' and '.join(_together(user[key]) for key in choosing)} together.")
    return plans


def _check_values(which: str, of_rows: Sequence[str], lines: Sequence[str], *, pattern: bool) -> None:
    """Refuses a value that no row has; names that fit a `pattern` only if no row has any of them.

    Raises:
        UserError: with the values that the rows have.
    """
    absent = [line for line in lines if meaning(line) not in set(map(meaning, of_rows))]
    if absent and not (pattern and len(absent) < len(lines)):
        allowed = listed({line.partition("=")[2] for line in of_rows})
        raise UserError(f"{which} have no {_together(absent)}; allowed: {allowed}.")


def _together(lines: Sequence[str]) -> str:
    """``key=one,other`` of the overrides of one key."""
    return ",".join([lines[0], *(line.partition("=")[2] for line in lines[1:])])


def _plans_at(experiment: str, block: Mapping[str, Any], scale: str, at_scale: RowsAtScale) -> list[Plan]:
    """The plans at one scale."""
    plans: list[Plan] = []
    for row, choices in at_scale.chosen():
        seeds = {**(block.get("seeds") or {}), **(row.get("seeds") or {})}.get(scale)
        check_number(len(plans) + math.prod(map(len, choices.values())))
        for lines in every_combination(choices):
            cell = {key: value for key, value in map(read, lines) if key in at_scale.grid}
            alone = bool(block.get("one_job_per_seed"))
            plans.append(Plan([experiment, *lines], str(row[LABEL]), cell, seeds, alone))
    return plans


def swept_lines(block: Mapping[str, Any]) -> set[str]:
    """The `meaning` of each override that a sweep makes, in all rows or in one, at one scale or at all."""
    return {meaning(line) for lines in _swept(block) for values in lines.values() for line in values}


def _swept(block: Mapping[str, Any]) -> Iterator[Choices]:
    """The parts of a sweep that give values to keys."""
    by_scale = [*(block.get("scales") or {}).values()]
    by_scale += [own for row in block["rows"] for own in (row.get("scales") or {}).values()]
    rows = ({key: value for key, value in row.items() if key not in OF_A_ROW} for row in block["rows"])
    for part in (block.get("grid"), block.get("overrides"), *by_scale, *rows):
        yield as_choices(part or {})


def _as_named(user: Choices, block: Mapping[str, Any]) -> Choices:
    """`user` with ``++key`` as ``key`` where the sweep has that key, which is then there."""
    named = {f"{FORCED}{key}" for part in _swept(block) for key in part}
    forced = {key: lines for key, lines in user.items() if key in named}
    plain = {key.removeprefix(FORCED): [line.removeprefix(FORCED) for line in forced[key]] for key in forced}
    return {key: lines for key, lines in user.items() if key not in forced} | plain


def _scales(user: Choices, composed: Mapping[str, Any]) -> list[tuple[str, Choices]]:
    """Each scale that is asked for, with the user's overrides at it; the default one if none is given."""
    if "scale" not in user:
        return [(str((composed.get("scale") or {}).get("name")), user)]
    return [(line.split("=", 1)[1], {**user, "scale": [line]}) for line in user["scale"]]
