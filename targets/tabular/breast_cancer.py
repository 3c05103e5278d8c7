"""Breast cancer Wisconsin: the small table that scikit-learn ships, to try things without a download."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from targets.tabular.preparation import Columns, prepared, split
from targets.tabular.tabular_data import TabularData


def load(root: str | None, *, split_seed: int, variants: Sequence[Mapping[str, Any]]) -> TabularData:
    """569 tumours with 30 numbers each; the outcome is 1 where they are benign.

    Args:
        root: not used, as they come with scikit-learn.
        split_seed: of the split into training and test rows, as the set has none of its own.
        variants: the forms that are known, see `targets.tabular.preparation.Variant`.

    Raises:
        DataError: if they are not what `variants` says.
    """
    from sklearn.datasets import load_breast_cancer  # type: ignore[import-untyped, unused-ignore]

    inputs, outcome = load_breast_cancer(return_X_y=True)
    columns = Columns(pd.DataFrame(inputs), None, outcome.astype(np.float64))
    train, test = split(columns, split_seed)
    return prepared("breast_cancer", "sklearn.datasets.load_breast_cancer", train, test, variants)
