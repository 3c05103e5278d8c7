"""Rows of an experiment that a command chooses by their labels: ``row=DULA,EDULA``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runner.config.experiments.override_meaning import read, written
from runner.config.experiments.sweep_block import LABEL
from runner.execution.errors import unknown

Row = Mapping[str, Any]


def chosen_rows(experiment: str, rows: Sequence[Row], lines: Sequence[str]) -> Sequence[Row]:
    """The rows whose labels the overrides `lines` give, as they are written or in quotes; all without any.

    Raises:
        UserError: for a label that no row has.
    """
    if not lines:
        return rows
    given = [_texts(line) for line in lines]
    labels = [str(row[LABEL]) for row in rows]
    for texts in given:
        if not texts & set(labels):
            as_written = dict.fromkeys(map(written, labels))
            raise unknown(f"row of the experiment {experiment}", min(texts, key=len), as_written)
    wanted = set().union(*given)
    return [row for row, label in zip(rows, labels, strict=True) if label in wanted]


def _texts(line: str) -> set[str]:
    """What an override gives, as it is written, and without quotes."""
    text, value = line.partition("=")[2], read(line)[1]
    return {text, value} if isinstance(value, str) else {text}
