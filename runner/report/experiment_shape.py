"""The shape of the table of an experiment that is known by its name."""

from __future__ import annotations

from collections.abc import Sequence

from omegaconf import OmegaConf

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
    config = OmegaConf.create(names.composed(f"+{EXPERIMENT}={name}"))
    if "table" not in config:
        raise UserError(f"Experiment {name} has no table block.")
    return table_shape(name, config.table)
