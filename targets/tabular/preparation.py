"""From columns to rows for training, validation and test: scaling, one-hot codes, split, and known counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from targets.datasets.dataset import DataError
from targets.tabular.tabular_data import VALIDATION, TabularData, tensor_part

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Variant:
    """One known form of a set: the whole, or a subset that stands for it.

    Attributes:
        train: training rows, those held out for validation included.
        test: test rows.
        note: what must be said beside a number measured on it; None for the whole published set.
    """

    train: int
    test: int
    note: str | None = None


@dataclass(frozen=True, eq=False)
class Columns:
    """What the rows of one part hold.

    Attributes:
        numeric: columns of numbers.
        categories: columns of text, which become one-hot codes.
        outcome: ``(rows,)``, from 0 to 1.
    """

    numeric: pd.DataFrame
    categories: pd.DataFrame | None
    outcome: Array

    def __len__(self) -> int:
        return len(self.outcome)

    def rows(self, places: NDArray[np.int64]) -> Columns:
        """The rows at `places`, in that order."""
        categories = None if self.categories is None else self.categories.iloc[places]
        return Columns(self.numeric.iloc[places], categories, self.outcome[places])


def split(columns: Columns, seed: int) -> tuple[Columns, Columns]:
    """80 % of the rows for training and the rest for test, in the order of the released loaders.

    With their seed 78712 the rows of COMPAS are split just as in the code of the papers.
    """
    order = permutation(len(columns), seed)
    cut = int(0.8 * len(columns))
    return columns.rows(order[:cut]), columns.rows(order[cut:])


def permutation(rows: int, seed: int) -> NDArray[np.int64]:
    """The order in which NumPy's legacy generator shuffles that many rows."""
    return np.random.RandomState(seed).permutation(rows).astype(np.int64)


def prepared(
    name: str, source: str, train: Columns, test: Columns, variants: Sequence[Mapping[str, Any]]
) -> TabularData:
    """The set, its last training rows held out for validation (EDLP's released code; experiments E.4).

    Numbers are scaled to [0, 1] over training and test rows and texts one-hot coded; then every feature
    is centred and divided by its standard deviation over the training rows. Features that are constant
    there are dropped.

    Args:
        source: the file or folder, for messages.
        train: training rows in the order that decides which are held out.
        variants: the forms that are known, see `Variant`.

    Raises:
        DataError: if there are no rows, or other numbers of rows than `variants` know.
    """
    # Imported here, as it takes a second that no other target should pay.
    from sklearn.preprocessing import (  # type: ignore[import-untyped, unused-ignore]
        MinMaxScaler,
        OneHotEncoder,
        StandardScaler,
    )

    variant = _counted(name, source, len(train), len(test), variants)
    kept = int((1.0 - VALIDATION) * len(train))
    if not kept or not len(test):
        raise DataError(f"'{source}' leaves no rows to train and test {name} with")
    both = pd.concat([train.numeric, test.numeric])
    inputs: Array = MinMaxScaler().fit_transform(both.to_numpy(dtype=np.float64))
    if train.categories is not None and test.categories is not None:
        texts = pd.concat([train.categories, test.categories]).to_numpy(dtype=object)
        coded = OneHotEncoder(sparse_output=False, dtype=np.float64).fit_transform(texts)
        inputs = np.concatenate([inputs, coded], axis=1)
    varied = np.ptp(inputs[:kept], axis=0) > 0.0
    if not varied.any():
        raise DataError(f"'{source}' has no column that differs between the training rows of {name}")
    inputs = inputs[:, varied]
    inputs = StandardScaler().fit(inputs[:kept]).transform(inputs)
    return TabularData(
        name,
        train=tensor_part(inputs[:kept], train.outcome[:kept]),
        validation=tensor_part(inputs[kept : len(train)], train.outcome[kept:]),
        test=tensor_part(inputs[len(train) :], test.outcome),
        note=variant.note,
    )


def from_zero_to_one(values: Array) -> Array:
    """`values` scaled so that the least is 0 and the greatest 1; all 0 where they are the same."""
    span = np.ptp(values)
    scaled: Array = (values - values.min()) / (span if span > 0.0 else 1.0)
    return scaled


def _counted(name: str, source: str, train: int, test: int, variants: Sequence[Mapping[str, Any]]) -> Variant:
    """The known form with as many rows."""
    known = [Variant(**each) for each in variants]
    for variant in known:
        if (train, test) == (variant.train, variant.test):
            return variant
    counts = " or ".join(f"{variant.train:,} + {variant.test:,}" for variant in known)
    raise DataError(f"{name} has {counts} training and test rows, '{source}' leaves {train:,} + {test:,}")
