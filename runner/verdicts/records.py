"""Recorded tables as they lie in outputs/record; one that is not as it was written is named and left out."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from metrics.inference.few_seeds import Interval
from runner.execution.errors import UserError, listed, one_sentence
from runner.files.atomic_files import read_json
from runner.report.recorded.measured_by import measured_by
from runner.report.recorded.seed_values import SEEDS, read_labelled, read_seed_values
from runner.store.folder_digests import DIGESTS, damaged_files
from runner.verdicts.changed_protocol import changing

COLUMNS = ("row", "role", "cell", "metric", "mean", "lo", "hi", "n", "sd", "within_floor", "runs")
"""Columns of table.csv that a verdict needs."""

SCALES = ("paper", "quick", "smoke")
"""The preferred first."""

VOID = re.compile(r"^- (\S+) .*floor and its ranking are void", re.MULTILINE)
"""The note of a table on columns whose reference samples differ, and its mark in their heads."""


@dataclass(frozen=True)
class Measured:
    """One number of a recorded table.

    Attributes:
        interval: of the runs with a value; None where all that ended are `lost`.
        seeds: the value of each seed, where the record keeps them.
        lost: runs that ended and are not in the mean; older tables do not count failed ones here.
        absent: runs of the sweep that are neither in the mean nor `lost`.
        folder: the record's folder, which of a joined `Record` may be that of a part.
        command: the command that measures what is in it.
    """

    interval: Interval | None
    within_floor: bool
    role: str
    seeds: Mapping[int, float] = field(default_factory=dict)
    lost: int = 0
    absent: int = 0
    folder: str = ""
    command: str = ""


@dataclass(frozen=True)
class Record:
    """A recorded table, joined with the parts of it that were recorded beside it.

    Attributes:
        numbers: by row, column and metric.
        void: columns whose floor the table itself declares void.
        changed: overrides that make the protocol another one than the experiment's.
    """

    experiment: str
    scale: str
    numbers: Mapping[tuple[str, str, str], Measured]
    void: frozenset[str]
    changed: tuple[str, ...] = ()

    def rows(self, column: str, metric: str) -> dict[str, Measured]:
        """The numbers of one column in one metric, by row."""
        asked = (column, metric)
        return {row: one for (row, *place), one in self.numbers.items() if tuple(place) == asked}


@dataclass(frozen=True)
class Records:
    """All recorded tables that can be read, and a sentence on each other one."""

    found: tuple[Record, ...]
    refused: tuple[str, ...]
    missing: tuple[str, ...]

    def of(self, experiment: str) -> list[Record]:
        """The records of an experiment: of its own protocol before others, then the preferred scale first."""
        own = [record for record in self.found if record.experiment == experiment]
        return sorted(own, key=lambda record: (bool(record.changed), SCALES.index(record.scale)))


def read_records(root: Path, experiments: Iterable[str]) -> Records:
    """The records below `root` of these experiments.

    Raises:
        UserError: if `root` is no folder.
    """
    if not root.is_dir():
        raise UserError(f"The recorded tables are read from '{root}', which is no folder.")
    found: dict[tuple[str, str, tuple[str, ...]], Record] = {}
    refused, missing, unrecorded = [], [], []
    for experiment in experiments:
        folders = {scale: _folders(root, experiment, scale) for scale in SCALES}
        if not any(folders.values()):
            unrecorded.append(experiment)
        for scale, beside in folders.items():
            for folder in beside:
                try:
                    part = read_record(folder, experiment, scale)
                except UserError as error:
                    refused.append(str(error))
                    continue
                whole = found.get((experiment, scale, part.changed))
                found[experiment, scale, part.changed] = part if whole is None else _joined(whole, part)
                if not (folder / DIGESTS).exists():
                    missing.append(f"{folder.name} has no {DIGESTS}: nobody can tell whether it was edited.")
    if unrecorded:
        none = "any published table" if not found and not refused else listed(unrecorded)
        missing.insert(0, f"There is no record of {none}: what it would hold counts as not measured.")
    return Records(tuple(found.values()), tuple(refused), tuple(missing))


def _folders(root: Path, experiment: str, scale: str) -> list[Path]:
    """The record of a table at a scale, then those of its parts: ``pt_figure3_paper-emnist``."""
    name = f"{experiment}_{scale}"
    return [folder for folder in (root / name, *sorted(root.glob(f"{name}-*"))) if folder.is_dir()]


def _joined(whole: Record, part: Record) -> Record:
    """`whole` with the numbers that it lacks and `part` has, or that `part` has of more runs."""
    numbers = dict(whole.numbers)
    for place, one in part.numbers.items():
        if place not in numbers or _runs(one) > _runs(numbers[place]):
            numbers[place] = one
    return replace(whole, numbers=numbers, void=whole.void | part.void)


def _runs(one: Measured) -> int:
    """How many runs with a value a number is of."""
    return 0 if one.interval is None else one.interval.n


def read_record(folder: Path, experiment: str, scale: str) -> Record:
    """The record in `folder`, of a table or of a part of it.

    Raises:
        UserError: if a file is missing, changed since it was recorded, or of another schema.
    """
    if changed := damaged_files(folder):
        names = ", ".join(changed)
        raise UserError(f"{folder.name} is left out: {names} is not as it was recorded ({DIGESTS}).")
    manifest = read_json(folder / "manifest.json")
    if manifest is None:
        raise UserError(f"{folder.name} is left out: manifest.json is not there or not as it was recorded.")
    own_scale = folder.name.removeprefix(f"{experiment}_")
    if (manifest.get("experiment"), manifest.get("scale")) != (experiment, own_scale):
        raise UserError(f"{folder.name} is left out: its manifest.json is of another table or schema.")
    try:
        frame = read_labelled(folder / "table.csv")
        if lacks := [name for name in COLUMNS if name not in frame.columns]:
            raise ValueError(f"its table.csv is of another schema, without {', '.join(lacks)}")
        overrides = manifest.get("overrides") or []
        command = measured_by(experiment, own_scale, overrides)
        measured = map(_measured, frame.to_dict("records"))
        numbers = {
            place: replace(one, folder=folder.name, command=command)
            for place, one in measured
            if one.interval is not None or one.lost
        }
        for place, seeds in read_seed_values(folder / SEEDS).items():
            if place in numbers:
                numbers[place] = replace(numbers[place], seeds=seeds)
        page = (folder / "table.md").read_text(encoding="utf-8")
        void = _void(page, {column for _, column, _ in numbers})
        return Record(experiment, scale, numbers, void, changing(experiment, scale, overrides))
    except (OSError, ValueError, TypeError, UserError) as error:
        raise UserError(f"{folder.name} is left out: {one_sentence(error).removesuffix('.')}.") from error


def _measured(line: Mapping[Hashable, object]) -> tuple[tuple[str, str, str], Measured]:
    place = (str(line["row"]), str(line["cell"]), str(line["metric"]))
    mean, sd, lo, hi = (_number(line[name]) for name in ("mean", "sd", "lo", "hi"))
    n, done = (int(float(str(line[name]))) for name in ("n", "runs"))
    if n and mean is None:
        raise ValueError(f"the mean of {', '.join(place)} is not there")
    span = Interval(mean, sd, lo, hi, n) if n and mean is not None else None
    lost = int(float(str(line.get("without_value", max(0, done - n)))))
    absent = max(0, int(float(str(line.get("runs_expected", done)))) - n - lost)
    within = str(line["within_floor"]) == "True"
    return place, Measured(span, within, str(line["role"]), lost=lost, absent=absent)


def _number(value: object) -> float | None:
    number = float(str(value))
    return None if pd.isna(number) else number


def _void(page: str, columns: Iterable[str]) -> frozenset[str]:
    """The columns whose heads bear the mark of a note that declares their floor void.

    Heads stand above the numbers, or before them where the table's columns go down the page.
    """
    marks = VOID.findall(page)
    lines = [line for line in page.splitlines() if line.startswith("|")]
    heads = {cell.strip() for line in lines for cell in line.split("|")}
    return frozenset(
        column
        for column in columns
        for head in heads
        if head.startswith(column) and _bears(head.removeprefix(column), marks)
    )


def _bears(raised: str, marks: Iterable[str]) -> bool:
    """Whether the end of a head is marks alone, all of them raised letters, and one of `marks` among them."""
    return not any(map(str.isascii, raised)) and any(mark in raised for mark in marks)
