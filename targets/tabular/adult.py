"""Adult: whether a person earns more than 50,000 dollars a year (Kohavi 1996, census of 1994)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Unpack

import numpy as np

from targets.datasets.dataset import DataError
from targets.tabular.preparation import Columns, TableForm, numpy_permutation, prepared
from targets.tabular.reading import located_files, numbers, read_table
from targets.tabular.tabular_data import TabularData

COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
]
NUMERIC = ["education-num", "capital-gain", "hours-per-week", "age", "fnlwgt", "capital-loss"]
CATEGORIES = ["workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country"]
UNKNOWN, RICH, POOR = "?", ">50K", "<=50K"


def load_adult(root: str | None, *, files: Mapping[str, str], **form: Unpack[TableForm]) -> TabularData:
    """People without unknown entries, in the published split; `education` is left out, its number stays.

    Args:
        root: folder of all data sets.
        files: paths of ``train`` and ``test`` below `root`.
        form: see `targets.tabular.preparation.TableForm`.

    Raises:
        DataError: if a file is missing or damaged, or none of `variants`.
    """
    paths = located_files("adult", root, files, form["published"])
    train, test = _people(paths["train"]), _people(paths["test"])
    train = train.rows(numpy_permutation(len(train), form["split_seed"]))
    test = test.rows(numpy_permutation(len(test), form["split_seed"]))
    return prepared("adult", str(paths["train"].parent), train, test, form["variants"])


def _people(path: Path) -> Columns:
    """The rows of one file; the test file starts with a comment, and its labels end with a full stop."""
    frame = read_table(path, COLUMNS, header=False, comment="|")
    # An empty field is unknown as well; it would be one more category.
    frame = frame[(frame != UNKNOWN).all(axis=1) & frame[CATEGORIES].notna().all(axis=1)]
    if frame.empty:
        raise DataError(f"'{path}' holds no row in which all entries are known")
    income = frame["income"].astype("string").str.rstrip(".")
    wrong = income[~income.isin((RICH, POOR))]
    if len(wrong):
        raise DataError(
            f"'{path}' must hold {RICH} or {POOR} in the column income, {wrong.iloc[0]!r} was found"
        )
    outcome = np.asarray(income == RICH, dtype=np.float64)
    return Columns(numbers(path, frame, NUMERIC), frame[CATEGORIES], outcome)
