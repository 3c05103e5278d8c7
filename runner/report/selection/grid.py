"""The table of any selection of runs: a row for each sampler and a column for each problem that it holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from omegaconf import OmegaConf

from runner.config.experiments.same_jobs import NO_PART
from runner.config.run_settings import CLASS, METRIC, TUNING, Settings, absence_tells, value_shown
from runner.execution.errors import UserError, counted
from runner.report.figure_shape import Role
from runner.report.runs.experiment_run import IMAGES, Run, drawn_by_reference
from runner.report.runs.stored_results import Results
from runner.report.selection.directions import metric_shapes
from runner.report.selection.disagreements import disagreements
from runner.report.selection.equal_cost import STEPS, lengths_at_equal_cost
from runner.report.selection.stored_runs import StoredRun
from runner.report.table_shape import ColumnShape, RowShape, TableShape

BESIDE = {METRIC: "target", TUNING: "sampler"}
"""Of groups that have no one option: the setting that must be the same where their own are compared."""

NONE = "no {}"
"""What runs are called that read none of a group, as of a sampler."""

EQUAL_COST = "; rows differ in their steps, and took as many evaluations of the target"


@dataclass(frozen=True)
class Grid:
    """A selection of runs as a table.

    Attributes:
        keys: settings that vary between the runs, those of the sampler last.
        shape: the table, a row for each variant of the samplers, a column for each variant of the rest.
        results: the runs in their places.
        row_settings, column_settings: the varied settings of each row and of each column, by its label.
    """

    keys: list[str]
    shape: TableShape
    results: Results
    row_settings: Mapping[str, Settings]
    column_settings: Mapping[str, Settings]


def grid_of(runs: Sequence[StoredRun], title: str, across: str | None = None) -> Grid:
    """The table of `runs`; metrics that have a better direction come first.

    Args:
        across: a setting of the sampler that makes columns, as those of the target and the task do.

    Raises:
        UserError: if there are no runs, or none of them has measured anything.
    """
    if not runs:
        raise UserError(f"{title}: no run fits.")
    metrics = metric_shapes(runs)
    if not metrics:
        standing = Counter(run.status for run in runs)
        counts = ", ".join(f"{standing[status]} {status}" for status in sorted(standing))
        raise UserError(f"{title}: no run that fits has measured anything ({counts}).")
    places = places_of(runs, across)
    configs: dict[tuple[str, str], Any] = {}
    placed = []
    for run, (row, column) in zip(runs, places.labels, strict=True):
        if (row, column) not in configs:  # one for all seeds: to make it takes longer than all else of a run
            configs[row, column] = OmegaConf.create(dict(run.config))
        ids, config = (run.seed, run.folder.run_id), configs[row, column]
        placed.append(Run(row, column, *ids, run.status, config, run.summary, run.folder))
    rows, columns = ({getattr(run, name): None for run in placed} for name in ("row", "column"))
    equal = any(STEPS in places.row_settings[row] for row in rows)
    shape = TableShape(
        title=title,
        caption=f"{counted(len(runs), 'run')}{EQUAL_COST * equal}.",
        rows=[RowShape(row, role=_role(placed, row)) for row in ordered(rows, places.row_settings)],
        columns=[ColumnShape(column, {}) for column in ordered(columns, places.column_settings)],
        metrics=metrics,
        notes=disagreements(placed),
    )
    results = Results(tuple(placed))
    return Grid(places.keys, shape, results, places.row_settings, places.column_settings)


def _role(runs: Sequence[Run], row: str) -> Role:
    """Draws that no sampler made do not compete."""
    config = next(run.config for run in runs if run.row == row)
    return Role.draws if drawn_by_reference(config) else Role.sampler


@dataclass(frozen=True)
class Places:
    """Where each of several runs stands in their table.

    Attributes:
        keys: settings that vary between the runs, those of the sampler last.
        labels: of each run, its row and its column.
        row_settings, column_settings: the varied settings of each row and of each column, by its label.
    """

    keys: list[str]
    labels: list[tuple[str, str]]
    row_settings: dict[str, Settings]
    column_settings: dict[str, Settings]


def places_of(runs: Sequence[StoredRun], across: str | None = None) -> Places:
    """The place of each of `runs`: a row for the variant of its sampler, a column for that of the rest.

    The number of steps belongs to the sampler where all took as many evaluations of the target.

    Args:
        across: see `grid_of`.
    """
    varied = varied_keys(_with_our_metrics(runs))
    inner = [key for key in varied if _of_sampler(key) and key != across]
    outer = [key for key in varied if key not in inner]
    if STEPS in outer and lengths_at_equal_cost(runs, inner, outer):
        outer.remove(STEPS)
        inner.append(STEPS)
    labels, rows, columns = [], dict[str, Settings](), dict[str, Settings]()
    for run in runs:
        row, column = _label(run.settings, inner, "sampler"), _label(run.settings, outer, "target")
        rows[row] = {key: value_shown(run.settings, key) for key in inner}
        columns[column] = {key: value_shown(run.settings, key) for key in outer}
        labels.append((row, column))
    return Places([*outer, *inner], labels, rows, columns)


def _with_our_metrics(runs: Sequence[StoredRun]) -> list[Settings]:
    """The settings of `runs`; where a metric is of ours and in others of their own, its class is None."""
    own = {
        key for run in runs for key in run.settings if key.startswith(f"{METRIC}.") and key.endswith(CLASS)
    }
    found = []
    for run in runs:
        lacking = own - run.settings.keys()
        measured = (run.config.get(METRIC) or {}) if lacking else {}
        found.append({**{key: None for key in lacking if key.split(".")[1] in measured}, **run.settings})
    return found


def varied_keys(settings: Sequence[Settings]) -> list[str]:
    """The settings that take several values, among runs that have the same option of their group.

    A setting that another one of its group decides, as ``task.burn_in`` follows ``task.steps``, is left out,
    and so is one that is no part of a run's identity, as ``threads``.
    Options of a metric may vary with the target, and the effort of tuning with the sampler. Runs that lack a
    setting which others of the same option and task have vary in it, as runs of an earlier version may.
    """
    varied: list[str] = []
    for key in dict.fromkeys(key for each in settings for key in each if key not in NO_PART):
        group = key.split(".", 1)[0]
        beside = (BESIDE.get(group, group), "scale") if "." in key else ()
        values: dict[tuple[Any, ...], set[Any]] = {}
        for each in settings:
            if "." not in key or key in each:
                values.setdefault(tuple(each.get(name) for name in beside), set()).add(each.get(key))
        if any(len(found) > 1 for found in values.values()) or _only_some_have(key, settings):
            earlier = [name for name in varied if name.split(".", 1)[0] == group]
            if not any(_decides(name, key, settings) for name in earlier if "." in name):
                varied.append(key)
    return [key for key in varied if key != "scale" or not _follows(key, varied, settings)]


def _only_some_have(key: str, settings: Sequence[Settings]) -> bool:
    """Whether the setting `key` tells runs that have it from runs of the same option and task without it."""
    if not absence_tells(key):
        return False
    having: dict[tuple[Any, ...], set[bool]] = {}
    for each in settings:
        options = (each.get(name) for name in (key.split(".", 1)[0], "task", "scale"))
        having.setdefault(tuple(options), set()).add(key in each)
    return any(len(found) > 1 for found in having.values())


def _decides(one: str, other: str, settings: Sequence[Settings]) -> bool:
    """Whether the setting `other` has one value for each value of `one`, in every option of their group."""
    group = one.split(".", 1)[0]
    pairs = {
        (each.get(group), each.get(one), each.get(other)) for each in settings if one in each or other in each
    }
    return len({pair[:2] for pair in pairs}) == len(pairs)


def _follows(key: str, varied: Sequence[str], settings: Sequence[Settings]) -> bool:
    """Whether the option `key` is told by the other varied settings of a column, whose rows are compared."""
    others = [name for name in varied if name != key and not _of_sampler(name)]
    seen = {(tuple(each.get(name) for name in others), each.get(key)) for each in settings}
    return len({place for place, _ in seen}) == len(seen)


def _of_sampler(key: str) -> bool:
    """Whether a setting says who made the draws, and how."""
    return key == IMAGES or key.split(".", 1)[0] in ("sampler", TUNING)


def _label(settings: Settings, keys: Sequence[str], group: str) -> str:
    """The option of `group` and the varied settings: ``dmala, step_size=0.3``."""
    parts = [str(settings.get(group, NONE.format(group)))]
    named = [key for key in keys if key != group and key in settings]
    parts += [f"{key.split('.', 1)[-1]}={value_shown(settings, key)}" for key in named]
    return ", ".join(parts)


def ordered(labels: Mapping[str, Any], settings: Mapping[str, Settings]) -> list[str]:
    """The labels by their settings: numbers by size, text by the alphabet."""
    return sorted(labels, key=lambda label: [_rank(value) for value in settings[label].values()])


def _rank(value: Any) -> tuple[int, float, str]:
    return (0, float(value), "") if is_number(value) else (1, 0.0, str(value))


def is_number(value: Any) -> bool:
    """Whether a setting is a number that has a place on an axis, as infinity and NaN have not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
