"""The keys of a job's configuration by which a table places it: in a column, on an axis, in a fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from omegaconf import DictConfig, OmegaConf

from runner.execution.errors import UserError, nearest
from runner.report.block_references import ALONG
from runner.report.figure_shape import Role
from runner.report.table_shape import TableShape


def chosen(config: DictConfig, key: str) -> Any:
    """What `config` says of `key`; of a group, the name of the option in force, or what is in it."""
    value = OmegaConf.select(config, key)
    if not isinstance(value, DictConfig):
        return value
    return value["name"] if "name" in value else OmegaConf.to_container(value, resolve=True)


def same(found: Any, wanted: Any) -> bool:
    """Whether what is `chosen` is what a column asks for: in a group of keys, those that it names."""
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return all(name in found and same(found[name], inside) for name, inside in wanted.items())
    return bool(found == wanted)


def misspelt(shape: TableShape, config: DictConfig) -> str:
    """What is said of the first key of a column that `config` has only under nearly that name; or nothing."""
    names = _names(config)
    for place, column in enumerate(shape.columns):
        for key in column.where:
            if key not in names and (hint := nearest(key, names)):
                return f": it has no '{key}', for which table.columns[{place}].where asks{hint}"
    return ""


def check_axes(experiment: str, shape: TableShape, row: str, column: str, config: DictConfig) -> None:
    """Refuses a job of `row` and `column` that has no place on the axis of a panel or in the fit of a growth.

    Raises:
        UserError: naming the key, and where in the table it stands.
    """
    for place, key in _axes(shape, row, column):
        value = chosen(config, key)
        try:
            float(value)
        except (TypeError, ValueError) as error:
            hint = nearest(key, _names(config)) if value is None else ""
            got = "has none" if value is None else f"has {value!r}"
            raise UserError(
                f"Experiment {experiment}: {place} must be a key with a number, '{key}' was given, of which "
                f"a job of row '{row}' {got}{hint or '.'}"
            ) from error


def _axes(shape: TableShape, row: str, column: str) -> Iterator[tuple[str, str]]:
    """The keys that place runs of `row` in `column`, each with where it stands."""
    role = shape.row(row).role
    for number, growth in enumerate(shape.growths):
        if growth.along is None and (row in growth.rows or (not growth.rows and role is Role.sampler)):
            yield f"table.growths[{number}].x", growth.x
    for number, figure in enumerate(shape.figures):
        for place, panel in enumerate(figure.panels):
            drawn = column in panel.columns and role in figure.roles and panel.row in (None, row)
            if drawn and panel.x not in ALONG:
                yield f"table.figures[{number}].panels[{place}].x", panel.x


def _names(config: DictConfig) -> list[str]:
    """The keys for which a table can ask: those at the top, and those in the groups."""
    top = [str(name) for name in config]
    groups = [name for name in top if OmegaConf.is_dict(config[name])]
    return [*top, *(f"{group}.{key!s}" for group in groups for key in config[group])]
