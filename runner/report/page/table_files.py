"""A table's files: CSV, Markdown and LaTeX, and Parquet where there is a library for it."""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path

from runner.files.atomic_files import write_bytes, write_text
from runner.files.csv_text import csv_of_records
from runner.report.page.latex import latex
from runner.report.page.layout import Page
from runner.report.page.markdown import markdown

COMPARISONS = "comparisons.csv"
GROWTHS = "growths.csv"


def has_numbers(folder: Path) -> bool:
    """Whether a table was rendered into `folder` that has a mean; published numbers beside it are none."""
    path = folder / "table.csv"
    if not path.is_file():
        return False
    with path.open(newline="", encoding="utf-8") as file:
        return any(record.get("mean") for record in csv.DictReader(file))


def write_table(folder: Path, records: Sequence[Mapping[str, object]], page: Page) -> list[str]:
    """Writes `records` and `page` into `folder`; the names of the files.

    ``comparisons.csv`` has a line for each pair of rows that the table compares, in each of its columns,
    ``growths.csv`` one for each fit of a growth over the columns. Either is there only where it has a line.
    ``table.parquet`` holds what ``table.csv`` does, with the extra `parquet`.
    """
    texts = {"table.csv": csv_of_records(records), "table.md": markdown(page), "table.tex": latex(page)}
    for name, lines in ((COMPARISONS, page.comparisons), (GROWTHS, page.growths)):
        if lines:
            texts[name] = csv_of_records([line.record() for line in lines])
        else:
            (folder / name).unlink(missing_ok=True)
    for name, text in texts.items():
        write_text(folder / name, text)
    parquet = folder / "table.parquet"
    if importlib.util.find_spec("pyarrow") is None:
        parquet.unlink(missing_ok=True)
        return list(texts)
    import pandas as pd

    frame = pd.DataFrame.from_records(records)
    write_bytes(parquet, frame.to_parquet(index=False, engine="pyarrow"))
    return [*texts, parquet.name]
