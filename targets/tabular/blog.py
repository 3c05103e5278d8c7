"""BlogFeedback: how many comments a post gets within a day (Buza 2014)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from targets.tabular.preparation import Columns, from_zero_to_one, permutation, prepared
from targets.tabular.reading import files, numbers, read
from targets.tabular.tabular_data import TabularData

NUMERIC = [f"feature {place}" for place in range(1, 281)]
OUTCOME = "comments"
LARGEST = 90
"""Posts with more comments than this percentile of all of them are left out, as in the released code."""


def load(
    root: str | None,
    *,
    split_seed: int,
    files_: Mapping[str, str],
    published: str,
    variants: Sequence[Mapping[str, Any]],
) -> TabularData:
    """Posts with 280 numbers each, in the published split; the outcome is scaled to [0, 1].

    The files have no header: the released loader takes the first row of each for one and loses it, and
    it lets counts above 255 wrap around to small ones, which then stay in. Here neither happens.

    Args:
        root: folder of all data sets.
        split_seed: of which training rows are held out for validation.
        files_: paths of ``train`` and ``test`` below `root`.
        published: where they can be had.
        variants: the forms that are known, see `targets.tabular.preparation.Variant`.

    Raises:
        DataError: if a file is missing or damaged, or not one of `variants`.
    """
    paths = files("blog", root, files_, published)
    read_ = {part: read(path, [*NUMERIC, OUTCOME], header=False) for part, path in paths.items()}
    found = {part: numbers(paths[part], frame, [*NUMERIC, OUTCOME]) for part, frame in read_.items()}
    counts = {part: frame[OUTCOME].to_numpy(dtype=np.float64) for part, frame in found.items()}
    most = np.percentile(np.concatenate([counts["train"], counts["test"]]), LARGEST)
    kept = {part: counts[part] <= most for part in counts}
    scaled = from_zero_to_one(np.concatenate([counts[part][kept[part]] for part in ("train", "test")]))
    cut = int(kept["train"].sum())
    columns = {
        part: Columns(found[part].loc[kept[part], NUMERIC], None, outcome)
        for part, outcome in (("train", scaled[:cut]), ("test", scaled[cut:]))
    }
    train, test = (
        columns[part].rows(permutation(len(columns[part]), split_seed)) for part in ("train", "test")
    )
    return prepared("blog", str(paths["train"].parent), train, test, variants)
