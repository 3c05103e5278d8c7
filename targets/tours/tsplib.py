"""Travelling-salesman instances in TSPLIB 95 files (Reinelt 1995), symmetric and asymmetric."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from targets.checks import one_of
from targets.datasets.dataset import DataError
from targets.datasets.files.places import file_content, given_file, gzipped_beside
from targets.datasets.files.user_paths import file_is_there
from targets.tours.tsplib_distances import DISTANCES

FEWEST = 3
"""Minimum number of cities: fewer have a single tour."""

MOST = 5000
"""Maximum number of cities: their distances are 200 MB."""

OPTIMA = {
    "burma14": (86738, 3323),
    "ulysses16": (195424, 6859),
    "gr17": (74692, 2085),
    "gr21": (152832, 2707),
    "ulysses22": (348972, 7013),
    "gr24": (81478, 1272),
    "fri26": (67330, 937),
    "bays29": (167312, 2020),
    "att48": (2344458, 10628),
    "eil51": (82610, 426),
    "berlin52": (1525566, 7542),
}
"""Sums of all distances and lengths of the shortest tours of instances that are published without a tour."""

KINDS = ("TSP", "ATSP")
"""The values of TYPE that are served; what follows its first word is a comment."""

SECTIONS = ("NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION", "DISPLAY_DATA_SECTION", "TOUR_SECTION")
"""Sections that leave the problem what it is; others, such as fixed edges or depots, change it."""

FORMATS = {
    # First whether rows are right of the diagonal, then whether they include the diagonal.
    "UPPER_ROW": (True, False),
    "LOWER_ROW": (False, False),
    "UPPER_DIAG_ROW": (True, True),
    "LOWER_DIAG_ROW": (False, True),
    # A column of one triangle is a row of the other.
    "UPPER_COL": (False, False),
    "LOWER_COL": (True, False),
    "UPPER_DIAG_COL": (False, True),
    "LOWER_DIAG_COL": (True, True),
}
"""The values of EDGE_WEIGHT_FORMAT for triangular matrices; FULL_MATRIX is the only other one."""

KEYWORD = re.compile(r"^\s*([A-Z][A-Z0-9_]*)\s*(?::\s*(.*?))?\s*$")


@dataclass(frozen=True, eq=False)
class Instance:
    """The content of a TSPLIB file.

    Attributes:
        distances: from the city of the row to that of the column, ``(n, n)``, float64.
        optimum: length of the shortest tour, from the file ``.opt.tour`` in the same folder or as published
            for the file's NAME; None if unknown.
    """

    distances: Tensor
    optimum: float | None


def find_instance(file: str, root: str | None) -> Path:
    """The path of an instance: `file` as it stands, or else below ``root/tsplib``.

    Raises:
        DataError: if it is in neither place.
    """
    return given_file(file, root, "tsplib", "a TSPLIB file")


def read_instance(path: Path) -> Instance:
    """The instance in a file, plain or gzipped.

    Raises:
        DataError: if it cannot be read, a section is missing or invalid, or it is another problem or its
            edge-weight type or format is not supported.
    """
    keys, sections = _parse(path)
    _require_tours(path, keys, sections)
    size = _dimension(path, keys)
    kind = keys.get("EDGE_WEIGHT_TYPE", "nothing")
    one_of(f"'{path}': EDGE_WEIGHT_TYPE", kind, [*DISTANCES, "EXPLICIT"], DataError)
    if kind == "EXPLICIT":
        distances = _explicit(path, keys, _section(path, sections, "EDGE_WEIGHT_SECTION", kind), size)
    else:
        rows = _section(path, sections, "NODE_COORD_SECTION", kind)
        distances = DISTANCES[kind](_points(path, rows, size))
    if not bool((distances >= 0).all() & (distances > 0).any()):
        raise DataError(f"'{path}' must hold distances of at least 0, and not of 0 alone")
    # The name of the file is no part of a run's id, and a file may have the NAME of another instance.
    total, published = OPTIMA.get(keys.get("NAME", "").removesuffix(".tsp"), (0, 0))
    optimum = float(published) if total == distances.sum() else None
    beside = tour_beside(path)
    if beside.is_file():
        optimum = length(distances, read_tour(beside, size))
    return Instance(distances, optimum)


def tour_beside(path: Path) -> Path:
    """Where the shortest tour of the instance at `path` is, or is expected; plain, or else gzipped."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    plain = plain.with_suffix("") if plain.suffix.lower() in (".tsp", ".atsp") else plain
    tour = plain.with_name(f"{plain.name}.opt.tour")
    return tour if file_is_there(tour) else gzipped_beside(tour) or tour


def read_tour(path: Path, size: int) -> Tensor:
    """The tour of `size` cities in a TSPLIB file, ``(size,)``, int64, cities from 0.

    Raises:
        DataError: if it cannot be read or is not a tour of all cities.
    """
    _, sections = _parse(path)
    words = [word for word in _section(path, sections, "TOUR_SECTION", "a tour") if word != "-1"]
    cities = _numbers(path, "TOUR_SECTION", words, size)
    if sorted(cities.tolist()) != list(range(1, size + 1)):
        raise DataError(f"'{path}' must hold a tour of the cities 1 to {size}, each once")
    return cities.long() - 1


def length(distances: Tensor, tour: Tensor) -> float:
    """Length of a closed tour ``(n,)``."""
    return float(distances[tour, tour.roll(-1)].sum())


def _parse(path: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The keys of the head, and the words of each section."""
    try:
        text = file_content(path).decode()
    except UnicodeDecodeError as error:
        raise DataError(f"'{path}' is damaged or no TSPLIB file: it is not text") from error
    keys: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    section: list[str] | None = None
    for line in text.splitlines():
        found = KEYWORD.match(line)
        if found is None:
            if section is not None:
                section += line.split()
            continue
        key, value = found.groups()
        if key == "EOF":
            break
        section = sections.setdefault(key, []) if key.endswith("_SECTION") else None
        if section is None:
            keys[key] = value or ""
    return keys, sections


def _require_tours(path: Path, keys: dict[str, str], sections: dict[str, list[str]]) -> None:
    """Refuses another problem than a travelling salesman who may take any tour."""
    kind = (keys.get("TYPE", KINDS[0]).split() or ["nothing"])[0]
    one_of(f"'{path}': TYPE", kind, KINDS, DataError)
    for name in sections:
        if name not in SECTIONS:
            raise DataError(f"'{path}' must be a travelling salesman alone, it has {name}")


def _dimension(path: Path, keys: dict[str, str]) -> int:
    given = keys.get("DIMENSION", "nothing")
    if not given.isascii() or not given.isdigit() or len(given) > 9 or not FEWEST <= int(given) <= MOST:
        raise DataError(f"'{path}' must have a DIMENSION from {FEWEST} to {MOST} cities, {given} was given")
    return int(given)


def _section(path: Path, sections: dict[str, list[str]], name: str, kind: str) -> list[str]:
    if name not in sections:
        raise DataError(f"'{path}' has no {name}, which {kind} needs")
    return sections[name]


def _numbers(path: Path, section: str, words: Sequence[str], count: int) -> Tensor:
    """`count` finite numbers, float64."""
    try:
        values = [float(word) for word in words]
    except ValueError as error:
        said = " ".join(str(error).split())
        raise DataError(f"'{path}': {section} must hold numbers, {said}") from error
    if len(values) != count or not all(map(math.isfinite, values)):
        raise DataError(f"'{path}': {section} must hold {count} finite numbers, it holds {len(values)}")
    return torch.tensor(values, dtype=torch.float64)


def _points(path: Path, words: Sequence[str], size: int) -> Tensor:
    """Coordinates of the cities in the order of their numbers, which tours are in, ``(n, 2)``."""
    section = "NODE_COORD_SECTION"
    numbers, x, y = _numbers(path, section, words, 3 * size).reshape(size, 3).T
    order = numbers.argsort()
    if numbers[order].tolist() != list(range(1, size + 1)):
        raise DataError(f"'{path}': {section} must number the cities from 1 to {size}, each once")
    return torch.stack([x, y], -1)[order]


def _explicit(path: Path, keys: dict[str, str], words: Sequence[str], size: int) -> Tensor:
    """The matrix of EDGE_WEIGHT_SECTION, its diagonal zero."""
    layout = keys.get("EDGE_WEIGHT_FORMAT", "nothing")
    if layout == "FULL_MATRIX":
        return (
            _numbers(path, "EDGE_WEIGHT_SECTION", words, size * size).reshape(size, size).fill_diagonal_(0.0)
        )
    one_of(f"'{path}': EDGE_WEIGHT_FORMAT", layout, [*FORMATS, "FULL_MATRIX"], DataError)
    upper, diagonal = FORMATS[layout]
    shift = 0 if diagonal else 1
    rows, columns = torch.triu_indices(size, size, shift) if upper else torch.tril_indices(size, size, -shift)
    matrix = torch.zeros((size, size), dtype=torch.float64)
    matrix[rows, columns] = _numbers(path, "EDGE_WEIGHT_SECTION", words, len(rows))
    return (matrix + matrix.T).fill_diagonal_(0.0)
