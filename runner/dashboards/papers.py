"""The papers that experiments belong to, and what has been rendered of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.store.folder_digests import damaged_files, unfinished_table
from runner.verdicts.readings.texts import reading_text

RECORD = Path("outputs") / "record"


@dataclass(frozen=True)
class Chapter:
    """A table of the report.

    Attributes:
        group: the group in W&B of its runs and of the run that holds its figures.
        text: the rendered table, Markdown.
        figures: names of its figures.
        reading: what the recorded numbers say; empty where nothing is recorded.
    """

    group: str
    text: str
    figures: tuple[str, ...]
    reading: str


def paper_of(experiment: str) -> str:
    """The paper that an experiment belongs to: ``pt`` of ``pt_table1``."""
    return experiment.split("_", 1)[0]


def chapters(paper: str, root: Path) -> list[Chapter]:
    """The rendered tables of a paper under the output root `root`; none that is damaged or was cut short."""
    found = []
    for file in sorted((root / "tables").glob(f"{paper}_*/*/table.md")):
        folder = file.parent
        if unfinished_table(folder) or damaged_files(folder):
            continue
        experiment, scale = folder.parent.name, folder.name
        said = reading_text(RECORD / f"{experiment}_{scale}")
        figures = tuple(path.stem for path in sorted(folder.glob("*.png")))
        found.append(Chapter(f"{experiment}, {scale}", file.read_text(), figures, said))
    return found


def report_title(paper: str, found: Sequence[Chapter]) -> str:
    """The title of a paper's report, by which it is found again; no other paper has the same.

    The first word of a table's title is the paper's name: ``PT-DLP`` of "PT-DLP Table 1".
    """
    name = found[0].text.lstrip("# ").split(" ", 1)[0].rstrip(":") if found else paper
    return f"{name}: tables and figures of {paper}_*"
