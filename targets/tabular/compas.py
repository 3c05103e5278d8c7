"""COMPAS: whether an offender reoffends within two years (ProPublica 2016)."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from targets.datasets.dataset import DataError
from targets.tabular.preparation import Columns, TableForm, prepared, split_rows
from targets.tabular.reading import categories, located_files, numbers, read_table
from targets.tabular.tabular_data import TabularData

NUMERIC = ["priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count", "age"]
CATEGORIES = ["race", "sex"]
OUTCOME = "two_year_recid"
SCREENING, RECID, DEGREE, SCORE = "days_b_screening_arrest", "is_recid", "c_charge_degree", "score_text"
WINDOW = 30
"""Maximum days between arrest and screening; otherwise the screening may be for another offence."""


def load_compas(root: str | None, *, file: str, **form: Unpack[TableForm]) -> TabularData:
    """Offenders after ProPublica's own cleaning, five numbers and two categories each.

    Args:
        root: folder of all data sets.
        file: path below `root`.
        form: see `targets.tabular.preparation.TableForm`.

    Raises:
        DataError: if the file is missing or damaged, or none of `variants`.
    """
    path = located_files("compas", root, {"all": file}, form["published"])["all"]
    columns = [*NUMERIC, *CATEGORIES, OUTCOME, SCREENING, RECID, DEGREE, SCORE]
    frame = read_table(path, columns, header=True)
    days = numbers(path, frame, [SCREENING], empty=True)[SCREENING]
    recid = numbers(path, frame, [RECID])[RECID]
    clean = days.between(-WINDOW, WINDOW) & (recid != -1) & (frame[DEGREE] != "O")
    frame = frame[clean & (frame[SCORE] != "N/A")]
    if frame.empty:
        raise DataError(f"'{path}' holds no rows that pass ProPublica's conditions")
    outcome = numbers(path, frame, [OUTCOME])[OUTCOME].to_numpy(dtype=np.float64)
    if not np.isin(outcome, (0.0, 1.0)).all():
        raise DataError(f"'{path}' must hold 0 or 1 in the column {OUTCOME}, it holds other numbers")
    kept = Columns(numbers(path, frame, NUMERIC), categories(path, frame, CATEGORIES), outcome)
    train, test = split_rows(kept, form["split_seed"])
    return prepared("compas", str(path), train, test, form["variants"])
