"""BlogFeedback: how many comments a post gets within a day (Buza 2014)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Unpack

import numpy as np
import pandas as pd

from targets.tabular.preparation import Columns, TableForm, from_zero_to_one, numpy_permutation, prepared
from targets.tabular.reading import located_files, numbers, read_table
from targets.tabular.tabular_data import TabularData

NUMERIC = [f"feature {place}" for place in range(1, 281)]
OUTCOME = "comments"
LARGEST = 90
"""Posts with more comments than this percentile of all of them are left out, as in the released code."""


def load_blog(root: str | None, *, files: Mapping[str, str], **form: Unpack[TableForm]) -> TabularData:
    """Posts with 280 numbers each, in the published split; the outcome is scaled to [0, 1].

    The files have no header: the released loader loses the first row of each, taking it for one, and counts
    above 255 overflow to small ones, which are then not left out. Neither is the case here.

    Args:
        root: folder of all data sets.
        files: paths of ``train`` and ``test`` below `root`.
        form: see `targets.tabular.preparation.TableForm`.

    Raises:
        DataError: if a file is missing or damaged, or none of `variants`.
    """
    paths = located_files("blog", root, files, form["published"])
    train, test = (_posts(paths[part]) for part in ("train", "test"))
    most = np.percentile(np.concatenate([train[OUTCOME], test[OUTCOME]]), LARGEST)
    train, test = (posts[posts[OUTCOME] <= most] for posts in (train, test))
    outcome = from_zero_to_one(np.concatenate([train[OUTCOME], test[OUTCOME]]))
    first, second = (
        Columns(posts[NUMERIC], None, scaled).rows(numpy_permutation(len(posts), form["split_seed"]))
        for posts, scaled in ((train, outcome[: len(train)]), (test, outcome[len(train) :]))
    )
    return prepared("blog", str(paths["train"].parent), first, second, form["variants"])


def _posts(path: Path) -> pd.DataFrame:
    """The numbers of one file."""
    columns = [*NUMERIC, OUTCOME]
    return numbers(path, read_table(path, columns, header=False), columns)
