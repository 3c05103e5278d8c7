"""The text beside a recorded table: its numbers are the table's, or it says where else they are from.

``reading.md`` names the source of a number in a comment behind it, which no reader sees:

    a flat mass of 0.1472<!-- EDULA | long runs, step 0.2 | flat_mass --> against ...

is the mean of that row, column and metric in the table's unit, to as many decimals as stand there; a fourth
part asks for ``sd``, ``lo``, ``hi``, ``n``, ``p_value`` or ``margin``; ``A / B`` in one part is the ratio
of two. In a cell of a table the bars are written ``\\|``, as others would end the cell. `filled` puts the
table's numbers in. Every other number has to stand in table.md or manifest.json as it is, or in a comment
``<!-- elsewhere: 0.23 1.7 from: runs by seed at commit d24b244 -->``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from runner.execution.errors import UserError
from runner.files.atomic_files import read_json, write_text
from runner.files.plain_yaml import plain_yaml
from runner.report.recorded.seed_values import read_labelled
from runner.verdicts.cells import CONF

READING = "reading.md"
NUMBER = re.compile(r"(?<![\w.,/^²⁻])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d{1,3})?(?!\w)")
TAGGED = re.compile(r"(-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)<!-- ([^|<>]+\|[^<>]+?) -->")
ELSEWHERE = re.compile(r"<!-- elsewhere: (.+?)\s+from:\s+(.+?)\s+-->", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
BAR = re.compile(r"\\?\|")
NOT_READ = re.compile(r"`[^`]*`|\]\([^)]*\)")
"""Code and addresses of links, whose digits are no measurements."""

SHOWN = ("table.md", "manifest.json")


def reading_text(folder: Path) -> str:
    """The reading of a recorded table as a reader sees it, without comments; empty where there is none."""
    path = folder / READING
    if not path.is_file():
        return ""
    return COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace")).rstrip() + "\n"


def filled(folder: Path) -> str:
    """The reading with every number that names its source taken from the table.

    Raises:
        UserError: where the table has no such number.
    """
    numbers = _Numbers(folder)
    text = (folder / READING).read_text(encoding="utf-8")
    return TAGGED.sub(lambda found: f"{numbers.written(found[2], found[1])}<!-- {found[2]} -->", text)


def unfounded(folder: Path) -> list[str]:
    """The numbers of a reading that are not those of their source, or have none."""
    text, current = (folder / READING).read_text(encoding="utf-8"), filled(folder)
    wrong = [
        f"{old[1]} where {old[2]} is {new[1]}"
        for old, new in zip(TAGGED.finditer(text), TAGGED.finditer(current), strict=True)
        if old[1] != new[1]
    ]
    held = set(_numbers("\n".join((folder / name).read_text(encoding="utf-8") for name in SHOWN)))
    held |= {number for found in ELSEWHERE.finditer(text) for number in _numbers(found[1])}
    plain = NOT_READ.sub(" ", COMMENT.sub(" ", TAGGED.sub(" ", text)))
    return wrong + [number for number in dict.fromkeys(_numbers(plain)) if number not in held]


def readings(root: Path) -> list[Path]:
    """The folders below `root` that hold a table and a reading."""
    return [path.parent for path in sorted(root.glob(f"*/{READING}")) if (path.parent / "table.csv").exists()]


def fill_readings(root: Path) -> list[str]:
    """Brings every reading below `root` up to date; a sentence on each that has numbers without a source."""
    said = []
    for folder in readings(root):
        try:
            text = filled(folder)
        except UnicodeDecodeError:
            said.append(f"{folder.name}/{READING} cannot be read: it is not UTF-8.")
            continue
        if text != (folder / READING).read_text(encoding="utf-8"):
            write_text(folder / READING, text)
        if found := unfounded(folder):
            said.append(
                f"{folder.name}/{READING} has numbers that its table does not hold: {', '.join(found)}."
            )
    return said


def _numbers(text: str) -> Iterator[str]:
    """Every number in `text`, without sign and separators of thousands."""
    for found in NUMBER.finditer(text.replace("\N{MINUS SIGN}", "-")):
        yield found[0].lstrip("-").replace(",", "").rstrip(".")


class _Numbers:
    """The numbers of one recorded table by source, in the units that the table prints."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        frame = read_labelled(folder / "table.csv")
        frame["margin"] = frame["hi"] - frame["mean"]
        self.frame = frame.set_index(["row", "cell", "metric"])
        self.units = _units(folder)

    def written(self, source: str, like: str) -> str:
        """The number that `source` names, with as many decimals as `like`."""
        parts = [part.strip() for part in BAR.split(source)]
        over = next((at for at, part in enumerate(parts) if " / " in part), None)
        if over is None:
            value = self._one(parts, source)
        else:
            first, _, second = parts[over].partition(" / ")
            ends = [[*parts[:over], name.strip(), *parts[over + 1 :]] for name in (first, second)]
            value = self._one(ends[0], source) / self._one(ends[1], source)
        if "e" in like:
            digits = len(like.partition("e")[0].partition(".")[2])
            return re.sub(r"e([-+])0*", lambda sign: "e" + sign[1].strip("+"), f"{value:.{digits}e}")
        return f"{value:{',' if ',' in like else ''}.{len(like.partition('.')[2])}f}"

    def _one(self, parts: list[str], source: str) -> float:
        row, column, metric, what = (*parts, "mean")[:4]
        place = (row, column, metric)
        value = float(str(self.frame.at[place, what])) if place in self.frame.index else math.nan
        if math.isnan(value):
            raise UserError(f"{self.folder.name}/{READING}: the table has no number '{source}'.")
        return value if what in ("n", "p_value") else value / self.units.get(metric, 1.0)


def _units(folder: Path) -> dict[str, float]:
    """The unit of each metric that the table shows in another than its own.

    Tables that were recorded before the manifest had them are of experiments in conf/.
    """
    manifest = read_json(folder / "manifest.json") or {}
    if "units" in manifest:
        return {str(metric): float(unit) for metric, unit in manifest["units"].items()}
    path = CONF / "experiment" / f"{folder.name.rpartition('_')[0]}.yaml"
    shape = (plain_yaml(path.read_bytes()) or {}).get("table") or {} if path.is_file() else {}
    return {metric["metric"]: float(metric.get("scale", 1.0)) for metric in shape.get("metrics", [])}
