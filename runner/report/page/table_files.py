"""A table's files: CSV, Markdown and LaTeX, and Parquet where there is a library for it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pandas as pd

from runner.files.atomic_files import write_bytes, write_text
from runner.report.page.latex import latex
from runner.report.page.layout import Page
from runner.report.page.markdown import markdown


def write_table(folder: Path, frame: pd.DataFrame, page: Page) -> list[str]:
    """Writes `frame` and `page` into `folder`; the names of the files.

    ``table.parquet`` holds what ``table.csv`` does, with the extra `parquet`.
    """
    texts = {"table.csv": frame.to_csv(index=False), "table.md": markdown(page), "table.tex": latex(page)}
    for name, text in texts.items():
        write_text(folder / name, text)
    parquet = folder / "table.parquet"
    if importlib.util.find_spec("pyarrow") is None:
        parquet.unlink(missing_ok=True)
        return list(texts)
    write_bytes(parquet, frame.to_parquet(index=False, engine="pyarrow"))
    return [*texts, parquet.name]
