"""The text beside a recorded table or bench: its numbers are of the record, or it says where they are from.

``reading.md`` names the source of a number in a comment behind it, which no reader sees:

    a flat mass of 0.1472<!-- EDULA | long runs, step 0.2 | flat_mass --> against ...

is the mean of that row, column and metric in the table's unit, to as many decimals as stand there; what else
a source may name is in `sources`. In a cell of a table the bars are written ``\\|``, as others would end the
cell. `filled` puts the numbers in. Every other number has to stand in the record as it is (`SHOWN`), or
in a comment ``<!-- elsewhere: 0.23 1.7 from: runs by seed at commit d24b244 -->``, which holds no others: a
number that a sentence lost would vouch for the next one that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from runner.execution.errors import UserError
from runner.files.atomic_files import write_text
from runner.store.folder_digests import DIGESTS, TABLE, damaged_files
from runner.verdicts.readings.recorded_files import is_bench
from runner.verdicts.readings.sources import Sources
from runner.verdicts.readings.writing import MINUS

READING = "reading.md"
NUMBER = re.compile(r"(?<![\w.,/^²⁻])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d{1,3})?(?!\w)")
TAGGED = re.compile(
    rf"((?:(?<!\w)[-{MINUS}])?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)<!-- ((?:(?!-->)[^|])+\|(?:(?!-->).)+?) -->",
    re.DOTALL,
)
ELSEWHERE = re.compile(r"<!-- elsewhere: (.+?)\s+from:\s+(.+?)\s+-->", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
NOT_READ = re.compile(r"`[^`]*`|\]\([^)]*\)")
"""Code and addresses of links, whose digits are no measurements."""

SHOWN = ("table.md", "manifest.json")
"""What a reader sees of a recorded table, in which other numbers may stand."""

MEASURED = re.compile(r"^(\|[^|]*\|).*", re.MULTILINE)
"""A line of bench.md: all behind what is measured names its source."""


def reading_text(folder: Path) -> str:
    """The reading of a record as a reader sees it, without comments; empty where there is none."""
    path = folder / READING
    if not path.is_file():
        return ""
    return COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace")).rstrip() + "\n"


def filled(folder: Path) -> str:
    """The reading with every number that names its source taken from the record.

    Raises:
        UserError: where the record has no such number, or a source is written otherwise than above.
    """
    sources = Sources(folder, f"{folder.name}/{READING}")
    text = (folder / READING).read_text(encoding="utf-8")
    sources.read_families(text)
    return TAGGED.sub(lambda found: f"{sources.written(found[2], found[1])}<!-- {found[2]} -->", text)


def unfounded(folder: Path) -> list[str]:
    """The numbers of a reading that are not those of their source, or have none."""
    text, current = (folder / READING).read_text(encoding="utf-8"), filled(folder)
    wrong = [
        f"{old[1]} where {old[2]} is {new[1]}"
        for old, new in zip(TAGGED.finditer(text), TAGGED.finditer(current), strict=True)
        if old[1] != new[1]
    ]
    return wrong + _without_source(folder, text)


def _without_source(folder: Path, text: str) -> list[str]:
    """The numbers of the reading `text` that name no source and that the record does not show."""
    if is_bench(folder):
        shown = [MEASURED.sub(r"\1", (folder / "bench.md").read_text(encoding="utf-8"))]
    else:
        shown = [(folder / name).read_text(encoding="utf-8") for name in SHOWN]
    return unsourced(TAGGED.sub(" ", text), shown)


def unsourced(text: str, sources: Iterable[str]) -> list[str]:
    """The numbers of `text` that are in none of `sources`, nor in a comment ``elsewhere`` of its own."""
    held = {number for source in sources for number in _numbers(source)}
    held |= {number for found in ELSEWHERE.finditer(text) for number in _numbers(found[1])}
    return [number for number in dict.fromkeys(_numbers(_plain(text))) if number not in held]


def unused(text: str) -> list[str]:
    """The numbers of the comments ``elsewhere`` of a reading that stand in none of its sentences."""
    told = set(_numbers(_plain(TAGGED.sub(" ", text))))
    listed = [number for found in ELSEWHERE.finditer(text) for number in _numbers(found[1])]
    return [number for number in dict.fromkeys(listed) if number not in told]


def _plain(text: str) -> str:
    """`text` without its comments and what is not read."""
    return NOT_READ.sub(" ", COMMENT.sub(" ", text))


def readings(root: Path) -> list[Path]:
    """The folders below `root` that hold a table or a bench, and a reading."""
    beside = [path.parent for path in sorted(root.glob(f"*/{READING}"))]
    return [folder for folder in beside if (folder / TABLE).is_file() or is_bench(folder)]


def fill_readings(root: Path) -> list[str]:
    """Brings every reading below `root` up to date.

    Returns:
        A sentence on each that has numbers without a source or sources without a number, and on each that is
        left as it is: it cannot be read, a source is not there, or its record was edited.
    """
    said = []
    for folder in readings(root):
        if changed := damaged_files(folder):
            names = f"{', '.join(changed)} is not as it was recorded ({DIGESTS})"
            said.append(f"{folder.name}/{READING} is left as it is: {names}.")
            continue
        try:
            text = filled(folder)
            found = _without_source(folder, text)
            if text != (folder / READING).read_text(encoding="utf-8"):
                write_text(folder / READING, text)
        except UnicodeDecodeError:
            said.append(f"{folder.name}/{READING} cannot be read: it is not UTF-8.")
            continue
        except FileNotFoundError as error:
            lost = Path(error.filename).name
            said.append(f"{folder.name}/{READING} is left as it is: {lost} is not there.")
            continue
        except UserError as error:
            said.append(str(error))
            continue
        if found:
            said.append(
                f"{folder.name}/{READING} has numbers that its record does not hold: {', '.join(found)}."
            )
        if idle := unused(text):
            said.append(
                f"{folder.name}/{READING} says where numbers are from that are not in it: {', '.join(idle)}."
            )
    return said


def _numbers(text: str) -> Iterator[str]:
    """Every number in `text`, without sign and separators of thousands."""
    for found in NUMBER.finditer(text.replace(MINUS, "-")):
        yield found[0].lstrip("-").replace(",", "").rstrip(".")
