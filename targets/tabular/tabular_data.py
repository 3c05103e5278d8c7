"""A tabular data set: rows of features with an outcome, in three parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from targets.datasets.dataset import DataError

VALIDATION = 0.01
"""Fraction of the training rows that is held out for validation, as in the released code."""


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one part.

    Attributes:
        inputs: features, float64 ``(rows, features)``.
        outcome: the outcome to predict, from 0 to 1, float64 ``(rows,)``.
    """

    inputs: Tensor
    outcome: Tensor

    def __len__(self) -> int:
        return len(self.outcome)

    def first(self, rows: int) -> Part:
        """The first `rows` rows, or all if there are fewer."""
        return Part(self.inputs[:rows].clone(), self.outcome[:rows].clone())


@dataclass(frozen=True, eq=False)
class TabularData:
    """Rows for training, validation and test, in random order, so that the first rows are a random subset.

    Attributes:
        name: such as ``compas``.
        train, validation, test: the parts; features are in units of the training rows' standard deviation.
        note: remark that must accompany results; None for the whole published set.

    Raises:
        DataError: if a part has no rows, other features than the training rows, a feature that is not finite,
            or an outcome that is not from 0 to 1.
    """

    name: str
    train: Part
    validation: Part
    test: Part
    note: str | None = None

    def __post_init__(self) -> None:
        for name, part in self.parts.items():
            self._check(name, part.inputs, part.outcome)

    def _check(self, part: str, inputs: Tensor, outcome: Tensor) -> None:
        if inputs.dim() != 2 or outcome.shape != inputs.shape[:1] or not len(outcome):
            raise DataError(
                f"the {part} part of {self.name} must have inputs (rows, features) and an outcome (rows,) of "
                f"at least one row, shapes {tuple(inputs.shape)} and {tuple(outcome.shape)} were given"
            )
        if inputs.shape[1] != self.features:
            raise DataError(
                f"the {part} part of {self.name} must have the {self.features} features of the train part, "
                f"{inputs.shape[1]} were given"
            )
        if not inputs.isfinite().all():
            raise DataError(f"the inputs of the {part} part of {self.name} must be finite")
        # Not a number compares false, too.
        if not (good := (outcome >= 0.0) & (outcome <= 1.0)).all():
            wrong = float(outcome[~good][0])
            raise DataError(
                f"the outcomes of the {part} part of {self.name} must be from 0 to 1, {wrong:g} was given"
            )

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parts by name."""
        return {"train": self.train, "validation": self.validation, "test": self.test}

    @property
    def features(self) -> int:
        """Number of features of a row."""
        return self.train.inputs.shape[1]

    def first(self, rows: int | None) -> TabularData:
        """At most `rows` training rows and as many test rows, with a note; all of them for None.

        The scaling of the features is that of all training rows, and the validation rows do not change.

        Raises:
            DataError: if `rows` is not a positive integer.
        """
        if rows is None:
            return self
        if not isinstance(rows, int) or isinstance(rows, bool) or rows < 1:
            raise DataError(f"rows must be null or a whole number of at least 1, {rows!r} was given")
        if rows >= max(len(self.train), len(self.test)):
            return self
        train, test = self.train.first(rows), self.test.first(rows)
        cut = (
            f"budget: {len(train):,} of {len(self.train):,} training rows and "
            f"{len(test):,} of {len(self.test):,} test rows"
        )
        note = cut if self.note is None else f"{self.note}; {cut}"
        return TabularData(self.name, train, self.validation, test, note)


def tensor_part(inputs: object, outcome: object) -> Part:
    """A part from two arrays of numbers."""
    return Part(
        torch.as_tensor(inputs, dtype=torch.float64).clone(),
        torch.as_tensor(outcome, dtype=torch.float64).clone(),
    )
