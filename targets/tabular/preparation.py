"""Preparation of tables: scaling, one-hot encoding, split into parts, and checks of the number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from targets.datasets.dataset import DataError
from targets.datasets.variants import known_variant
from targets.tabular.tabular_data import VALIDATION, TabularData, tensor_part

Array = NDArray[np.float64]


class TableForm(TypedDict):
    """The arguments that the loaders of published files share.

    Attributes:
        split_seed: seed of the split into training and test rows, or of the choice of validation rows.
        published: address of the publisher, for messages.
        variants: the known forms of the data set, the whole or a subset that replaces it: numbers of rows
            ``train``, including those held out for validation, and ``test``, and a ``note`` that must
            accompany results.
    """

    split_seed: int
    published: str
    variants: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of one part.

    Attributes:
        numeric: columns of numbers.
        categories: columns of text, to be one-hot encoded; None if there are none.
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


def split_rows(columns: Columns, seed: int) -> tuple[Columns, Columns]:
    """80 % of the rows for training and the rest for test, in the order of the released loaders.

    With their seed 78712 this is the split of COMPAS in the papers' code.
    """
    order = numpy_permutation(len(columns), seed)
    cut = int(0.8 * len(columns))
    return columns.rows(order[:cut]), columns.rows(order[cut:])


def numpy_permutation(rows: int, seed: int) -> NDArray[np.int64]:
    """The permutation of `rows` rows by NumPy's legacy generator."""
    return np.random.RandomState(seed).permutation(rows).astype(np.int64)


def prepared(
    name: str, source: str, train: Columns, test: Columns, variants: Sequence[Mapping[str, Any]]
) -> TabularData:
    """The prepared data set, with the last training rows held out for validation (settings E.4).

    As in EDLP's released code, numbers are scaled to [0, 1] over training and test rows and texts are one-hot
    encoded; then every feature is standardised with its mean and standard deviation over the training rows.
    Features that are constant there are dropped.

    Args:
        source: the file or folder, for messages.
        train: training rows, the last of which are held out.
        variants: see `TableForm`.

    Raises:
        DataError: if there are no rows, or the numbers of rows are none of `variants`.
    """
    # Imported here, since the import takes a second and no other target needs it.
    from sklearn.preprocessing import (  # type: ignore[import-untyped, unused-ignore]
        MinMaxScaler,
        OneHotEncoder,
        StandardScaler,
    )

    counts = {"train": len(train), "test": len(test)}
    variant = known_variant(variants, counts, f"{name} has", f"training and test rows, '{source}' leaves")
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
        note=variant.get("note"),
    )


def from_zero_to_one(values: Array) -> Array:
    """`values` scaled to minimum 0 and maximum 1; all 0 if they are equal."""
    span = np.ptp(values)
    scaled: Array = (values - values.min()) / (span if span > 0.0 else 1.0)
    return scaled
