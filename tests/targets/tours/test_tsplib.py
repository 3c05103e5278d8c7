"""TSPLIB files: distances by the manual's formulas, every layout of a matrix, and what is refused."""

from __future__ import annotations

import gzip
import math
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from targets.datasets.dataset import DataError
from targets.tours.tsplib import FORMATS, OPTIMA, find_instance, length, read_instance, read_tour, tour_beside
from tests.support.error_message import error_message

POINTS = [(0.0, 0.0), (3.0, 4.0), (1.0, 1.0), (6.0, 0.5)]
HEAD = "NAME: own\nTYPE: TSP\nDIMENSION: 4\n"


def write(path: Path, body: str, head: str = HEAD) -> Path:
    path.write_text(f"{head}{body}")
    return path


def coordinates(kind: str) -> str:
    rows = "\n".join(f"{city} {x} {y}" for city, (x, y) in enumerate(POINTS, 1))
    return f"EDGE_WEIGHT_TYPE: {kind}\nNODE_COORD_SECTION\n{rows}\nEOF\n"


def nint(value: float) -> int:
    return int(value + 0.5)


def att(x: float, y: float) -> int:
    exact = math.sqrt((x * x + y * y) / 10.0)
    rounded = nint(exact)
    return rounded + 1 if rounded < exact else rounded


def geographical(one: tuple[float, float], other: tuple[float, float]) -> int:
    def radians(value: float) -> float:
        degrees = int(value)
        return 3.141592 * (degrees + 5.0 * (value - degrees) / 3.0) / 180.0

    (a, b), (c, d) = map(radians, one), map(radians, other)
    q1, q2, q3 = math.cos(b - d), math.cos(a - c), math.cos(a + c)
    return int(6378.388 * math.acos(0.5 * ((1 + q1) * q2 - (1 - q1) * q3)) + 1.0) if one != other else 0


KINDS: dict[str, Any] = {
    "EUC_2D": lambda one, other: nint(math.dist(one, other)),
    "CEIL_2D": lambda one, other: math.ceil(math.dist(one, other)),
    "ATT": lambda one, other: att(one[0] - other[0], one[1] - other[1]),
    "GEO": geographical,
}


@pytest.mark.parametrize("kind", KINDS)
def test_distances_are_those_of_the_manual(kind: str, tmp_path: Path) -> None:
    distances = read_instance(write(tmp_path / "own.tsp", coordinates(kind))).distances
    assert distances.dtype == torch.float64
    assert distances.tolist() == [[KINDS[kind](one, other) for other in POINTS] for one in POINTS]


MATRIX = torch.tensor([[0, 2, 3, 5], [2, 0, 7, 11], [3, 7, 0, 13], [5, 11, 13, 0]], dtype=torch.float64)


@pytest.mark.parametrize("layout", FORMATS)
def test_every_layout_of_a_triangle_gives_the_matrix(layout: str, tmp_path: Path) -> None:
    triangle, *diagonal, by = layout.split("_")
    words = []
    for i in range(4):
        for j in range(4):
            # Along a column the first index is the column.
            row, column = (i, j) if by == "ROW" else (j, i)
            inside = column > row if triangle == "UPPER" else column < row
            if inside or (diagonal and row == column):
                words.append(f"{MATRIX[row, column]:g}")
    body = f"EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {layout} \nEDGE_WEIGHT_SECTION\n"
    # Lines may break anywhere.
    text = body + " ".join(words[:4]) + "\n " + "\n".join(words[4:]) + "\nEOF\n"
    assert torch.equal(read_instance(write(tmp_path / "own.tsp", text)).distances, MATRIX)


def test_a_full_matrix_may_be_directed_and_its_diagonal_is_not_read(tmp_path: Path) -> None:
    directed = MATRIX + torch.tril(torch.ones(4, 4, dtype=torch.float64), -1)
    rows = "\n".join(" ".join(f"{value:g}" for value in row) for row in directed + 9999 * torch.eye(4))
    body = f"EDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\nEDGE_WEIGHT_SECTION\n{rows}"
    assert torch.equal(read_instance(write(tmp_path / "own.tsp", body)).distances, directed)


def test_the_optimum_is_that_of_the_tour_beside_it(tmp_path: Path) -> None:
    path = write(tmp_path / "own.tsp", coordinates("EUC_2D"))
    instance = read_instance(path)
    assert instance.optimum is None
    (tmp_path / "own.opt.tour").write_text(
        "NAME: own.opt.tour\nTYPE: TOUR\nDIMENSION: 4\nTOUR_SECTION\n1 3\n2\n4\n-1\nEOF\n"
    )
    found = read_instance(path)
    d = found.distances
    assert found.optimum == (d[0, 2] + d[2, 1] + d[1, 3] + d[3, 0]).item()
    shuffled = PLANAR.replace("1 0.0 0.0\n2 3.0 4.0\n", "2 3.0 4.0\n1 0.0 0.0\n")
    assert shuffled != PLANAR
    again = read_instance(write(path, shuffled))
    assert again.optimum == found.optimum
    assert torch.equal(again.distances, d)


def test_the_published_optimum_is_that_of_the_content_with_its_name(tmp_path: Path) -> None:
    """Whatever the file is called, since that is no part of a run's id."""
    total, best = OPTIMA["gr17"]
    rest = [1.0] * (17 * 16 // 2 - 1)
    head = "TYPE: TSP\nDIMENSION: 17\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\n"
    for line, more, found in (
        ("NAME: gr17", 0, best),
        ("NAME: gr17.tsp", 0, best),
        ("NAME: gr17", 1, None),
        ("NAME: own", 0, None),
        ("COMMENT: no name", 0, None),
    ):
        weights = " ".join(map(str, [*rest, total / 2 - len(rest) + more]))
        text = f"{line}\n{head}EDGE_WEIGHT_SECTION\n{weights}\nEOF\n"
        for name in ("gr17.tsp", "own.tsp"):
            assert read_instance(write(tmp_path / name, text, "")).optimum == found


@pytest.mark.parametrize("name", ["own.tsp", "own.TSP", "own.atsp", "own.tsp.gz", "own.ATSP.gz", "own"])
def test_the_tour_beside_a_file_has_its_name(name: str) -> None:
    assert tour_beside(Path("folder") / name) == Path("folder/own.opt.tour")
    assert tour_beside(Path(name.replace("own", "v1.2"))) == Path("v1.2.opt.tour")


def test_a_file_may_be_gzipped_and_below_the_data_root(tmp_path: Path) -> None:
    (tmp_path / "tsplib").mkdir()
    below = tmp_path / "tsplib" / "own.tsp"
    below.write_bytes(gzip.compress((HEAD + coordinates("EUC_2D")).encode()))
    assert find_instance("own.tsp", str(tmp_path)) == below
    assert find_instance(str(below), None) == below
    assert read_instance(below).distances[0, 1].item() == 5


@pytest.mark.parametrize("name", ["own.tsp.gz", "own.tsp.GZ", "own.tsp"])
def test_the_tour_beside_a_file_may_be_gzipped(tmp_path: Path, name: str) -> None:
    path, tour = tmp_path / name, "TOUR_SECTION\n{} -1\n"
    path.write_bytes(gzip.compress((HEAD + PLANAR).encode()))
    (tmp_path / "own.opt.tour.gz").write_bytes(gzip.compress(tour.format("1 3 2 4").encode()))
    d = read_instance(path).distances
    assert read_instance(path).optimum == (d[0, 2] + d[2, 1] + d[1, 3] + d[3, 0]).item()
    plain = write(tmp_path / "own.opt.tour", tour.format("1 2 3 4"), "")
    assert tour_beside(path) == plain
    assert read_instance(path).optimum == (d[0, 1] + d[1, 2] + d[2, 3] + d[3, 0]).item()


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        ("TYPE: CVRP", "TYPE must be one of ATSP, TSP, 'CVRP' was given"),
        ("TYPE : TOUR", "TYPE must be one of ATSP, TSP, 'TOUR' was given"),
        ("TYPE:", "TYPE must be one of ATSP, TSP, 'nothing' was given"),
        (
            "TYPE: TSP\nFIXED_EDGES_SECTION\n1 2\n-1",
            "must be a travelling salesman alone, it has FIXED_EDGES_SECTION",
        ),
        ("DEPOT_SECTION\n1\n-1", "it has DEPOT_SECTION"),
    ],
)
def test_another_problem_is_refused(tmp_path: Path, head: str, sentence: str) -> None:
    path = write(tmp_path / "own.tsp", f"{head}\n{PLANAR}", "NAME: own\nDIMENSION: 4\n")
    assert sentence in error_message(DataError, read_instance, path)


@pytest.mark.parametrize("head", ["TYPE: TSP (M.~Hofmeister)", "TYPE : ATSP", "COMMENT: none"])
def test_what_follows_the_type_is_a_comment(tmp_path: Path, head: str) -> None:
    path = write(tmp_path / "own.tsp", f"{head}\n{PLANAR}", "NAME: own\nDIMENSION: 4\n")
    assert read_instance(path).distances[0, 1].item() == 5


EXPLICIT, FULL = "EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT:", "FULL_MATRIX\nEDGE_WEIGHT_SECTION\n"
PLANAR = coordinates("EUC_2D")
ALL_EQUAL = "EDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 1 1 2 1 1 3 1 1 4 1 1\n"
NEGATIVE = f"{EXPLICIT} UPPER_ROW\nEDGE_WEIGHT_SECTION\n1 2 3 4 -5 6\n"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (coordinates("XRAY1"), "EDGE_WEIGHT_TYPE must be one of ATT, CEIL_2D, EUC_2D, EXPLICIT, GEO, 'XRAY"),
        ("NODE_COORD_SECTION\n1 2 3\n", "EXPLICIT, GEO, 'nothing' was given"),
        ("EDGE_WEIGHT_TYPE: EUC_2D\nEOF\n", "has no NODE_COORD_SECTION, which EUC_2D needs"),
        (f"{EXPLICIT} UPPER_ROW\n", "has no EDGE_WEIGHT_SECTION, which EXPLICIT needs"),
        (
            f"{EXPLICIT} FUNCTION\nEDGE_WEIGHT_SECTION\n1\n",
            "EDGE_WEIGHT_FORMAT must be one of FULL_MATRIX, LOWER_COL, LOWER_DIAG_COL, LOWER_DIAG_ROW,",
        ),
        (PLANAR.replace("4 6.0 0.5\n", ""), "NODE_COORD_SECTION must hold 12 finite numbers"),
        (f"{EXPLICIT} {FULL}1 2 3\n", "EDGE_WEIGHT_SECTION must hold 16 finite numbers, it holds 3"),
        (PLANAR.replace("6.0", "six"), "NODE_COORD_SECTION must hold numbers, could not"),
        (ALL_EQUAL, "must hold distances of at least 0, and not of 0 alone"),
        (NEGATIVE, "must hold distances of at least 0, and not of 0 alone"),
        (
            PLANAR.replace("4 6.0", "1 6.0"),
            "NODE_COORD_SECTION must number the cities from 1 to 4, each once",
        ),
        (PLANAR.replace("6.0", "inf"), "must hold 12 finite numbers"),
    ],
)
def test_a_bad_file_is_refused_by_name(body: str, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path / "own.tsp", body)
    said = error_message(DataError, read_instance, path)
    assert sentence in said
    assert said.startswith(f"'{path}'")


@pytest.mark.parametrize("given", ["2", "0", "-4", "many", "4.0", "", "5001", "99999999999999"])
def test_too_few_cities_are_refused(given: str, tmp_path: Path) -> None:
    path = write(tmp_path / "own.tsp", PLANAR, f"NAME: own\nDIMENSION: {given}\n")
    assert error_message(DataError, read_instance, path) == (
        f"'{path}' must have a DIMENSION from 3 to 5000 cities, {given} was given"
    )


def test_a_damaged_file_or_tour_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.tsp"
    path.write_bytes(b"\xff\xfe\x00nothing")
    assert "is damaged or no TSPLIB file: it is not text" in error_message(DataError, read_instance, path)
    path.write_bytes(gzip.compress(coordinates("EUC_2D").encode())[:-9])
    assert "is damaged or cannot be read" in error_message(DataError, read_instance, path)
    for body, sentence in {
        "TOUR_SECTION\n1 2 3 3 -1\n": "must hold a tour of the cities 1 to 4, each once",
        "TOUR_SECTION\n1 2 3 -1\n": "TOUR_SECTION must hold 4 finite numbers, it holds 3",
        "TYPE: TOUR\n": "has no TOUR_SECTION, which a tour needs",
    }.items():
        tour = write(tmp_path / "own.opt.tour", body)
        assert sentence in error_message(DataError, read_tour, tour, 4)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    said = error_message(DataError, find_instance, "x.tsp", str(tmp_path))
    assert said.startswith("file must be null or a TSPLIB file, 'x.tsp' was given, which is not")
    said = error_message(DataError, find_instance, "/nowhere/x.tsp", str(tmp_path))
    assert said == "file must be null or a TSPLIB file, '/nowhere/x.tsp' was given, which is not there"
    for root in (None, "", " "):
        said = error_message(DataError, find_instance, "x.tsp", root)
        assert said.endswith("DATA_ROOT=DIR or data.root=DIR says no other place")


@pytest.mark.data
@pytest.mark.skipif("DATA_ROOT" not in os.environ, reason="DATA_ROOT is not set")
@pytest.mark.parametrize("name", OPTIMA)
def test_published_instances_have_the_published_optima(name: str) -> None:
    """The tour beside the file, where there is one, has the length that is published."""
    path = find_instance(f"{name}.tsp", os.environ["DATA_ROOT"])
    instance = read_instance(path)
    size = int(name.lstrip("abcdefghijklmnopqrstuvwxyz"))
    assert instance.distances.shape == (size, size)
    assert torch.equal(instance.distances, instance.distances.T)
    total, best = OPTIMA[name]
    assert (instance.distances.sum().item(), instance.optimum) == (total, best)
    tour = path.with_suffix(".opt.tour")
    if tour.is_file():
        assert length(instance.distances, read_tour(tour, size)) == best
