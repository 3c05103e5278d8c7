"""Rows of an experiment that a command chooses by their labels: ``row=DULA,EDULA``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.override_parser.types import Glob

from runner.config.choices import LABEL
from runner.config.experiments.override_meaning import read, written
from runner.execution.errors import UserError, unknown

Row = Mapping[str, Any]


def chosen_rows(experiment: str, rows: Sequence[Row], lines: Sequence[str]) -> Sequence[Row]:
    """The rows whose labels the overrides `lines` give, as they are written or in quotes; all without any.

    One that is a pattern, ``row=glob(PT*)``, gives all labels that it fits.

    Raises:
        UserError: for a label that no row has, or a pattern that fits none.
    """
    if not lines:
        return rows
    labels = [str(row[LABEL]) for row in rows]
    wanted = set().union(*(_chosen(experiment, line, labels) for line in lines))
    return [row for row, label in zip(rows, labels, strict=True) if label in wanted]


def _chosen(experiment: str, line: str, labels: Sequence[str]) -> set[str]:
    text, value = line.partition("=")[2], read(line)[1]
    as_written = dict.fromkeys(map(written, labels))
    if isinstance(value, Glob):
        if found := set(value.filter(list(labels))):
            return found
        raise UserError(f"'{line}' fits no row of the experiment {experiment}: {', '.join(as_written)}.")
    given = {text, value} if isinstance(value, str) else {text}
    if not given & set(labels):
        raise unknown(f"row of the experiment {experiment}", min(given, key=len), as_written)
    return given
