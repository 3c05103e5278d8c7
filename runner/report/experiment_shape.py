"""The shape of the table of an experiment, by the experiment's name."""

from __future__ import annotations

from collections.abc import Sequence

from omegaconf import OmegaConf

from runner.config.experiment_file import experiment_content
from runner.config.overrides import EXPERIMENT, Names
from runner.execution.errors import UserError, unknown
from runner.report.table_shape import TableShape, table_shape


def experiment_shape(name: str, overrides: Sequence[str] = ()) -> TableShape:
    """The shape of the table of experiment `name`.

    Args:
        overrides: those of the command; Hydra's own say where else experiments lie.

    Raises:
        UserError: if there is no such experiment, or it has no table.
    """
    names = Names([line for line in overrides if line.startswith("hydra.")])
    if name not in names.options(EXPERIMENT):
        raise unknown(EXPERIMENT, name, names.options(EXPERIMENT))
    found = _shape(name, names)
    if found is None:
        raise UserError(f"Experiment {name} has no table block.")
    return found


def check_table(overrides: Sequence[str], names: Names) -> None:
    """Refuses a mistake in the table of the experiment that a job's `overrides` name, if there are both.

    Raises:
        UserError: naming the key of the table's block.
    """
    prefix = f"+{EXPERIMENT}="
    for line in overrides:
        if line.startswith(prefix):
            _shape(line.removeprefix(prefix), names)


def _shape(name: str, names: Names) -> TableShape | None:
    """The shape of the table of experiment `name`; None where it has none."""
    composed = experiment_content(name, names)
    return table_shape(name, OmegaConf.create(composed).table) if "table" in composed else None
