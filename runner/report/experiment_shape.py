"""The shape of the table of an experiment, by the experiment's name, and whether its jobs fit into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omegaconf import OmegaConf

from runner.config.experiments.changing_overrides import changing_overrides
from runner.config.experiments.experiment_file import check_scales, experiment_content
from runner.config.overrides import EXPERIMENT, Names, parse
from runner.execution.errors import UserError, nearest, unknown
from runner.report.published import published_numbers
from runner.report.runs.job_places import JobLike, placed_runs
from runner.report.table_shape import TableShape, table_shape


def experiment_shape(name: str, overrides: Sequence[str] = ()) -> TableShape:
    """The shape of the table of experiment `name`.

    Args:
        overrides: those of the command; Hydra's own say where else experiments lie, and those that change
            the runs stand below the table.

    Raises:
        UserError: if there is no such experiment, or it has no table or a mistake in it.
    """
    names = Names([line for line in overrides if line.startswith("hydra.")])
    if name not in names.options(EXPERIMENT):
        raise unknown(EXPERIMENT, name, names.options(EXPERIMENT))
    composed = experiment_content(name, names)
    if "table" not in composed:
        raise UserError(f"Experiment {name} has no table block.")
    shape = _shape(name, composed, names)
    shape.reduced = _by_given_name(shape.reduced, composed, overrides)
    if changing := changing_overrides(name, overrides):
        shape.notes.append(
            f"Overrides: {', '.join(changing)}; captions and notes describe the experiment without them."
        )
    return shape


def check_figures(overrides: Sequence[str], names: Names) -> None:
    """Refuses panels that cannot be drawn in the table of the experiment that `overrides` name.

    For commands that begin work: to import what draws takes half a second.

    Raises:
        UserError: for an unknown kind, or a key that is missing or that the kind does not read.
    """
    from runner.report.panel_kinds import check_panels

    for name, composed in _experiments(overrides, names):
        check_panels(_shape(name, composed, names).figures)


def check_table(overrides: Sequence[str], jobs: Sequence[JobLike], names: Names) -> None:
    """Refuses a mistake in the table of the experiment that a job's `overrides` name, if there are both.

    Args:
        jobs: those of the command; at each of its scales they must fit into the table.

    Raises:
        UserError: naming the key of the table's block, or the job.
    """
    for name, composed in _experiments(overrides, names):
        shape = _shape(name, composed, names)
        published_numbers(shape)
        _check_rows(name, shape, [str(row["row"]) for row in composed["sweep"]["rows"]])
        _check_places(name, shape, jobs)


def _experiments(overrides: Sequence[str], names: Names) -> Iterator[tuple[str, dict[str, Any]]]:
    """The experiments that `overrides` name, one or none, with what each composes to, if it has a table."""
    prefix = f"+{EXPERIMENT}="
    for line in overrides:
        if line.startswith(prefix):
            name = line.removeprefix(prefix)
            composed = experiment_content(name, names)
            if "table" in composed:
                yield name, composed


def _shape(name: str, composed: dict[str, Any], names: Names) -> TableShape:
    shape = table_shape(name, OmegaConf.create(composed).table)
    check_scales(f"table.reduced of the experiment {name}", shape.reduced, composed, names)
    return shape


def _by_given_name(
    reduced: Mapping[str, str], composed: Mapping[str, Any], overrides: Sequence[str]
) -> dict[str, str]:
    """`reduced`, the scale that `overrides` choose under the name that ``scale.name=`` gives it there."""
    given = {each.key_or_group: each for each in parse(overrides)}
    name, scale = given.get("scale.name"), given.get("scale")
    if name is None or any(each is not None and each.is_sweep_override() for each in (name, scale)):
        return dict(reduced)
    chosen = (composed.get("scale") or {}).get("name") if scale is None else scale.value()
    said, label = reduced.get(str(chosen)), str(name.value())
    others = {key: text for key, text in reduced.items() if key != label}
    return others if said is None else {**others, label: said}


def _check_rows(name: str, shape: TableShape, swept: Sequence[str]) -> None:
    """Refuses a row of the table that has no job, whatever is chosen; one of exact values needs none."""
    for place, row in enumerate(shape.rows):
        if row.row not in swept and not row.exact:
            hint = nearest(row.row, swept) or "."
            raise UserError(
                f"Experiment {name}: table.rows[{place}].row is '{row.row}', which is not among "
                f"sweep.rows{hint}"
            )


def _check_places(name: str, shape: TableShape, jobs: Sequence[JobLike]) -> None:
    """Refuses jobs that have no place in the table, or that share one at the same scale."""
    by_scale: dict[str, list[JobLike]] = {}
    for job in jobs:
        by_scale.setdefault(str(job.config.scale.name), []).append(job)
    for alike in by_scale.values():
        for _ in placed_runs(name, shape, alike):
            pass
