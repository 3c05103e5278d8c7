"""Reads published CSV files and checks their columns."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from targets.datasets.dataset import DataError
from targets.datasets.files.places import data_root, file_content, found, one_line


def located_files(name: str, root: str | None, paths: Mapping[str, str], published: str) -> dict[str, Path]:
    """The files of a data set, plain or with ``.gz`` added to the name.

    Nothing is downloaded, as the publishers provide archives without stable checksums.

    Args:
        name: the data set, for messages.
        root: folder of all data sets.
        paths: by role of a file, its path below `root`.
        published: address of the publisher, for messages.

    Raises:
        DataError: if the folder or a file is missing.
    """
    folder = data_root(name, root)
    there = found(folder, [paths])
    if there is None:
        wanted = " and ".join(paths.values())
        raise DataError(
            f"{name} is missing: put {wanted} (CSV, plain or .gz; published at {published}) into '{root}'"
        )
    return there


def read_table(
    path: Path, columns: Sequence[str], *, header: bool, comment: str | None = None
) -> pd.DataFrame:
    """The expected `columns` of a file.

    Args:
        columns: names of the columns; for a file without header, of all its columns in order.
        header: whether the first line contains the names; white space around them is ignored.
        comment: prefix of lines to ignore.

    Returns:
        A frame indexed by row number from 0. Empty fields are NaN; text is stripped of white space.

    Raises:
        DataError: if it cannot be read, lacks a column, has one twice but for white space, or has no rows.
    """
    try:
        with warnings.catch_warnings():
            # pandas truncates a row that is too long, with a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                io.BytesIO(file_content(path)),
                header=0 if header else None,
                keep_default_na=False,
                na_values=[""],
                skipinitialspace=True,
                comment=comment,
                index_col=False,
                low_memory=False,
            )
    except pd.errors.EmptyDataError as error:
        raise DataError(f"'{path}' holds no rows") from error
    except DataError:
        raise
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise DataError(f"'{path}' cannot be read as CSV: {one_line(error)}") from error
    if header:
        frame.columns = [str(column).strip() for column in frame.columns]
        missing = [column for column in columns if column not in frame.columns]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise DataError(f"'{path}' must have the columns {_some(columns)}, it lacks {missing[0]}{more}")
        # Of names that are the same in the file pandas numbers the later ones; the first is read.
        twice = [column for column in columns if list(frame.columns).count(column) > 1]
        if twice:
            raise DataError(
                f"'{path}' must have the column {twice[0]} once, another one differs in white space alone"
            )
        frame = frame[list(columns)]
    elif frame.shape[1] != len(columns):
        raise DataError(f"'{path}' must have {len(columns)} columns, it has {frame.shape[1]}")
    else:
        frame.columns = list(columns)
    if frame.empty:
        raise DataError(f"'{path}' holds no rows")
    text = [column for column in columns if not pd.api.types.is_numeric_dtype(frame[column])]
    return frame.assign(**{column: frame[column].str.strip() for column in text if _is_text(frame[column])})


def numbers(path: Path, frame: pd.DataFrame, columns: Sequence[str], *, empty: bool = False) -> pd.DataFrame:
    """The `columns` as float64; with `empty`, fields without a value are allowed and NaN.

    Raises:
        DataError: naming the first column and row (from 1) without a finite number.
    """
    given = frame[list(columns)]
    found = pd.DataFrame({column: _as_numbers(given[column]) for column in columns}, index=frame.index)
    good = np.isfinite(found.to_numpy()) | (empty & given.isna().to_numpy())
    if not good.all():
        place = int(np.argmin(good.all(0)))
        row = int(np.argmin(good[:, place]))
        value = given[columns[place]].astype("object").iloc[row]
        what = "nothing" if given.isna().iat[row, place] else f"'{value}'"
        raise DataError(
            f"'{path}' must hold numbers in the column {columns[place]}, "
            f"{what} stands in row {frame.index[row] + 1}"
        )
    return found


def categories(path: Path, frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The `columns`, which are to be one-hot encoded, so that an empty field would be one more category.

    Raises:
        DataError: naming the first column and row (from 1) with an empty field.
    """
    found = frame[list(columns)]
    empty = found.isna().to_numpy()
    if empty.any():
        place = int(np.argmax(empty.any(0)))
        row = int(np.argmax(empty[:, place]))
        raise DataError(
            f"'{path}' must hold a category in the column {columns[place]}, "
            f"nothing stands in row {frame.index[row] + 1}"
        )
    return found


def _as_numbers(column: pd.Series) -> pd.Series:
    """Float64, NaN where there is no number; booleans are not numbers."""
    if pd.api.types.is_bool_dtype(column):
        return pd.Series(np.nan, index=column.index)
    return pd.to_numeric(column, errors="coerce").astype("float64")


def _is_text(column: pd.Series) -> bool:
    return pd.api.types.is_string_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _some(columns: Sequence[str]) -> str:
    """The names, or the first few of many."""
    few = ", ".join(columns[:4])
    return few if len(columns) <= 4 else f"{few}, ... ({len(columns)} in all)"
