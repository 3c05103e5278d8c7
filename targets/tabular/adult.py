"""Adult: whether a person earns more than 50,000 dollars a year (Kohavi 1996, census of 1994)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from targets.datasets.dataset import DataError
from targets.tabular.preparation import Columns, numpy_permutation, prepared
from targets.tabular.reading import located, numbers, read
from targets.tabular.tabular_data import TabularData

COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
]
NUMERIC = ["education-num", "capital-gain", "hours-per-week", "age", "fnlwgt", "capital-loss"]
CATEGORIES = ["workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country"]
UNKNOWN, RICH, POOR = "?", ">50K", "<=50K"


def load_adult(
    root: str | None,
    *,
    split_seed: int,
    files: Mapping[str, str],
    published: str,
    variants: Sequence[Mapping[str, Any]],
) -> TabularData:
    """People without unknown entries, in the published split; `education` is left out, its number stays.

    Args:
        root: folder of all data sets.
        split_seed: seed of the choice of validation rows.
        files: paths of ``train`` and ``test`` below `root`.
        published: address of the publisher, for messages.
        variants: the known forms of the data set, see `targets.tabular.preparation.TableVariant`.

    Raises:
        DataError: if a file is missing or damaged, or none of `variants`.
    """
    paths = located("adult", root, files, published)
    train, test = _people(paths["train"]), _people(paths["test"])
    train = train.rows(numpy_permutation(len(train), split_seed))
    test = test.rows(numpy_permutation(len(test), split_seed))
    return prepared("adult", str(paths["train"].parent), train, test, variants)


def _people(path: Path) -> Columns:
    """The rows of one file; the test file starts with a comment, and its labels end with a full stop."""
    frame = read(path, COLUMNS, header=False, comment="|")
    frame = frame[(frame != UNKNOWN).all(axis=1)]
    if frame.empty:
        raise DataError(f"'{path}' holds no rows without unknown entries")
    income = frame["income"].str.rstrip(".")
    wrong = income[~income.isin((RICH, POOR))]
    if len(wrong):
        raise DataError(
            f"'{path}' must hold {RICH} or {POOR} in the column income, {wrong.iloc[0]!r} was found"
        )
    outcome = np.asarray(income == RICH, dtype=np.float64)
    return Columns(numbers(path, frame, NUMERIC), frame[CATEGORIES], outcome)
