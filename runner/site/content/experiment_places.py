"""Which experiments there are at which scales, and where their results may lie."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.config.output_root import output_root_word
from runner.report.page.kept_overrides import SCALE, kept_overrides
from runner.site.index.run_entry import RunEntry

TABLE = "table.csv"
RECORD = "record"
"""The folder of recorded tables below an output root."""


@dataclass(frozen=True)
class Place:
    """An experiment at a scale, and where results of it may lie.

    Attributes:
        tables: folder of its rendered table.
        record: folder of its recorded table.
    """

    experiment: str
    scale: str
    tables: Path
    record: Path

    @property
    def key(self) -> str:
        """What its files are called."""
        return f"{self.experiment}-{self.scale}"

    @property
    def rendered(self) -> bool:
        """Whether its table was rendered here."""
        return (self.tables / TABLE).is_file()

    @property
    def root(self) -> Path:
        """The output root."""
        return self.tables.parents[2]

    @property
    def kept(self) -> list[str]:
        """The overrides that its rendered table says it is of; none where it says nothing."""
        return (kept_overrides(self.tables) if self.rendered else None) or []

    @property
    def chosen(self) -> list[str]:
        """The overrides that say which runs it is of, its scale among them."""
        kept = self.kept
        return kept if any(line.startswith(SCALE) for line in kept) else [f"scale={self.scale}", *kept]

    def overrides(self, hydra: Sequence[str], root: Path) -> list[str]:
        """Those of the command that computes its runs under `root`."""
        return [*hydra, *self.chosen, output_root_word(root)]

    def stamps(self) -> list[list[object]]:
        """Changes when a rendered or a recorded file does."""
        files = [path for folder in (self.tables, self.record) for path in sorted(folder.glob("*"))]
        stats = [(path, path.stat()) for path in files if path.is_file()]
        return [[str(path), stat.st_size, stat.st_mtime_ns] for path, stat in stats]


def places_of(experiments: Iterable[str], root: Path, runs: Iterable[RunEntry]) -> dict[str, list[Place]]:
    """The scales at which each of `experiments` has runs, a rendered table or a recorded one."""
    computed = {(run.experiment, run.scale) for run in runs}
    found: dict[str, list[Place]] = {}
    for name in sorted(experiments, key=in_order):
        scales = {scale for experiment, scale in computed if experiment == name}
        scales |= {path.name for path in (root / "tables" / name).glob("*") if path.is_dir()}
        recorded = (root / RECORD).glob(f"{name}_*")
        scales |= {scale for path in recorded if (scale := _recorded_scale(path, name))}
        found[name] = [
            Place(name, scale, root / "tables" / name / scale, root / RECORD / f"{name}_{scale}")
            for scale in sorted(scales)
        ]
    return found


def _recorded_scale(path: Path, name: str) -> str | None:
    """The scale of the table that is recorded in the folder `path`; None where it is not of `name`.

    The record ``pt_table1_released_paper`` is none of ``pt_table1`` at a scale ``released_paper``.
    """
    scale = path.name.removeprefix(f"{name}_")
    return scale if "_" not in scale and (path / TABLE).is_file() else None


def in_order(name: str) -> list[int | str]:
    """What names are sorted by, so that figure2 comes before figure11."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
