"""Where the runs of an experiment's jobs stand in its table: each in one row and one column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from omegaconf import DictConfig, OmegaConf

from runner.execution.errors import UserError, nearest
from runner.report.runs.column_keys import check_axes, chosen, misspelt, same
from runner.report.table_shape import TableShape

MOST_DIFFERENCES = 3
"""How many keys are named in which two runs of one place differ."""


LISTS = 'or quote a list that is meant as one value: "[tv,ess]"'
"""A list in a sweep makes several jobs."""


class JobLike(Protocol):
    """The part of `runner.sweep.jobs.Job` that a table reads."""

    @property
    def row(self) -> str: ...
    @property
    def config(self) -> DictConfig: ...
    @property
    def run_ids(self) -> Mapping[int, str]: ...


@dataclass(frozen=True)
class PlacedRun:
    """A run of a job in its column; the row is that of the job."""

    job: JobLike
    column: str
    seed: int
    run_id: str


def placed_runs(experiment: str, shape: TableShape, jobs: Iterable[JobLike]) -> Iterator[PlacedRun]:
    """Every run of `jobs` in its place; one that several jobs have stands there once.

    Raises:
        UserError: if a job's row is not in the table, its configuration fits no column or several, it has no
            place on an axis, or another run has its row, column and seed.
    """
    rows, keys = [row.row for row in shape.rows], {key for column in shape.columns for key in column.where}
    known: dict[tuple[str, str, int], PlacedRun] = {}
    for job in jobs:
        if job.row not in rows:
            hint = nearest(job.row, rows) or "."
            raise UserError(
                f"Experiment {experiment}: the sweep's row '{job.row}' is not among table.rows{hint}"
            )
        column = _column(experiment, shape, job, {key: chosen(job.config, key) for key in keys})
        check_axes(experiment, shape, job.row, column, job.config)
        for seed, run_id in job.run_ids.items():
            run = PlacedRun(job, column, seed, run_id)
            other = known.setdefault((job.row, column, seed), run)
            if other is run:
                yield run
            elif other.run_id != run_id:
                raise UserError(
                    f"Experiment {experiment}: row '{job.row}' has two runs of seed {seed} in the column "
                    f"'{column}', which differ in {_differences(other.job, job)}; give a row of the sweep "
                    f"another label, or the table a column that tells them apart, {LISTS}."
                )


def _column(experiment: str, shape: TableShape, job: JobLike, values: Mapping[str, Any]) -> str:
    """The label of the one column that `values`, by key, fit."""
    fits = {
        column.label: f"table.columns[{place}].where"
        for place, column in enumerate(shape.columns)
        if all(same(values[key], value) for key, value in column.where.items())
    }
    if len(fits) != 1:
        keys = dict.fromkeys(key for column in shape.columns for key in column.where)
        has = ", ".join(f"{key}={values[key]}" for key in keys)
        found = f"fits the columns {' and '.join(fits)} ({', '.join(fits.values())})."
        if not fits:
            found = f"fits no column of the table{misspelt(shape, job.config) or '.'}"
        raise UserError(f"Experiment {experiment}: a job of row '{job.row}' with {has} {found}")
    (label,) = fits
    return label


def _differences(one: JobLike, other: JobLike) -> str:
    """``sampler (gibbs, dmala)``: the first keys in which the configurations of two jobs differ."""
    plain = (OmegaConf.to_container(job.config, resolve=True) for job in (one, other))
    found = list(_different("", *plain))
    more = ", ..." if len(found) > MOST_DIFFERENCES else ""
    return f"{', '.join(found[:MOST_DIFFERENCES])}{more}" if found else "their data or code"


def _different(key: str, one: Any, other: Any) -> Iterator[str]:
    """The keys below `key` with different values; of groups with different options or keys these alone."""
    if one == other or key in ("seed", "sweep", "table"):
        return
    groups = isinstance(one, Mapping) and isinstance(other, Mapping)
    nameless = groups and key and "name" not in one and one.keys() != other.keys()
    if not groups or nameless or one.get("name") != other.get("name"):
        yield f"{key} ({_in_words(one)}, {_in_words(other)})"
        return
    for name in dict.fromkeys([*one, *other]):
        yield from _different(f"{key}.{name}".lstrip("."), one.get(name), other.get(name))


def _in_words(value: Any) -> str:
    """The name of an option, or the keys of a group without one, such as those of `metric`."""
    if isinstance(value, Mapping):
        return str(value.get("name") or " and ".join(value))
    return str(value)
