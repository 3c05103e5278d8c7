"""Breast cancer Wisconsin: the small table that scikit-learn ships, for use without a download."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from targets.tabular.preparation import Columns, prepared, split_rows
from targets.tabular.tabular_data import TabularData


def load_tumours(root: str | None, *, split_seed: int, variants: Sequence[Mapping[str, Any]]) -> TabularData:
    """569 tumours with 30 numbers each; the outcome is 1 where they are benign.

    Args:
        root: not used, as the data come with scikit-learn.
        split_seed: seed of the split into training and test rows, as none is published.
        variants: the known forms of the data set, see `targets.tabular.preparation.TableForm`.

    Raises:
        DataError: if they are none of `variants`.
    """
    from sklearn.datasets import load_breast_cancer  # type: ignore[import-untyped, unused-ignore]

    inputs, outcome = load_breast_cancer(return_X_y=True)
    columns = Columns(pd.DataFrame(inputs), None, outcome.astype(np.float64))
    train, test = split_rows(columns, split_seed)
    return prepared("breast_cancer", "sklearn.datasets.load_breast_cancer", train, test, variants)
