"""Tabular sets from small files in their published form: what is read, scaled, split, counted and refused."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from targets.datasets.dataset import DataError
from targets.tabular import adult, blog, breast_cancer, compas, news
from targets.tabular.preparation import Columns, from_zero_to_one, numpy_permutation, prepared, split_rows
from targets.tabular.tabular_data import Part, TabularData
from tests.support.error_message import error_message
from tests.support.targets.real_sets import ROOT, described
from tests.support.targets.small_tables import (
    COMPAS_HEADER,
    adult_rows,
    blog_rows,
    compas_rows,
    news_rows,
    write,
)


def known(train: int, test: int, note: str | None = None) -> list[dict[str, Any]]:
    """The variants of a description, one of them right."""
    return [{"train": 1, "test": 1}, {"train": train, "test": test, "note": note}]


def form(train: int, test: int, seed: int = 0, note: str | None = None) -> Any:
    """The arguments that all loaders share."""
    return {"published": "somewhere", "split_seed": seed, "variants": known(train, test, note)}


def read_compas(root: Path, train: int = 96, test: int = 24, seed: int = 0) -> TabularData:
    return compas.load_compas(str(root), file="c.csv", **form(train, test, seed))


def read_news(root: Path, note: str | None = None) -> TabularData:
    return news.load_news(str(root), file="n.csv", **form(96, 24, note=note))


def read_adult(root: Path, train: int = 120, test: int = 30) -> TabularData:
    return adult.load_adult(str(root), files={"train": "a.data", "test": "a.test"}, **form(train, test))


def read_blog(root: Path, train: int = 120, test: int = 30) -> TabularData:
    return blog.load_blog(str(root), files={"train": "train.csv", "test": "test.csv"}, **form(train, test))


def outcomes(data: TabularData) -> torch.Tensor:
    return torch.cat([part.outcome for part in data.parts.values()])


def write_adult(root: Path, train: list[list[Any]], test: list[list[Any]]) -> None:
    write(root / "a.data", [*train, []])
    write(root / "a.test", [["|1x3 Cross validator"], *test, []])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """All four sets."""
    write(tmp_path / "c.csv", [COMPAS_HEADER, *compas_rows(120)])
    write(tmp_path / "n.csv", news_rows(120))
    write_adult(tmp_path, adult_rows(120), adult_rows(30, 1, "{}K."))
    write(tmp_path / "train.csv", blog_rows(120))
    write(tmp_path / "test.csv", blog_rows(30, 1))
    return tmp_path


READERS = [read_compas, read_news, read_adult, read_blog]


@pytest.mark.parametrize("read", READERS)
def test_sets_are_scaled_by_their_training_rows_and_hold_out_a_hundredth_of_them(
    root: Path, read: Callable[[Path], TabularData]
) -> None:
    data = read(root)
    rows = len(data.train) + len(data.validation)
    assert len(data.train) == int(0.99 * rows)
    assert data.note is None
    zeros, ones = torch.zeros(data.features).double(), torch.ones(data.features).double()
    torch.testing.assert_close(data.train.inputs.mean(0), zeros, atol=1e-12, rtol=0)
    torch.testing.assert_close(data.train.inputs.std(0, correction=0), ones, atol=1e-12, rtol=0)
    assert (outcomes(data).min(), outcomes(data).max()) == (0, 1)


def test_compas_keeps_what_propublica_keeps(tmp_path: Path) -> None:
    rows = compas_rows(40)
    place = {name: COMPAS_HEADER.index(name) for name in COMPAS_HEADER}
    for row, (column, value) in enumerate(
        [
            ("days_b_screening_arrest", 31),
            ("days_b_screening_arrest", -31),
            ("days_b_screening_arrest", ""),
            ("is_recid", -1),
            ("c_charge_degree", "O"),
            ("score_text", "N/A"),
        ]
    ):
        rows[row][place[column]] = value
    write(tmp_path / "c.csv", [COMPAS_HEADER, *rows])
    data = read_compas(tmp_path, train=27, test=7, seed=5)
    assert data.features == 10, "five numbers, three races, two sexes"
    kept = rows[6:]
    order = np.random.RandomState(5).permutation(34)
    assert outcomes(data).tolist() == [float(kept[at][place["two_year_recid"]]) for at in order]
    first = [kept[at][COMPAS_HEADER.index("priors_count")] for at in order]
    column = torch.cat([part.inputs[:, 0] for part in data.parts.values()])
    ranks = torch.tensor(first).double()
    ranks = (ranks - ranks[:26].mean()) / ranks[:26].std(correction=0)
    torch.testing.assert_close(column, ranks, atol=1e-12, rtol=0)


def test_the_split_is_that_of_the_released_loaders() -> None:
    """They shuffle rows by numpy.random.shuffle and take int(0.8 n) of them."""
    numeric = pd.DataFrame({"one": np.arange(11.0), "other": np.arange(11.0) ** 2})
    shuffled = numeric.to_numpy().copy()
    np.random.RandomState(78712).shuffle(shuffled)
    train, test = split_rows(Columns(numeric, None, np.arange(11.0)), 78712)
    assert np.array_equal(np.concatenate([train.numeric, test.numeric]), shuffled)
    assert len(train) == 8


def test_another_seed_splits_otherwise_and_the_same_seed_the_same(root: Path) -> None:
    one, again, other = (read_compas(root, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(one.train.inputs, again.train.inputs)
    assert not torch.equal(one.test.inputs, other.test.inputs)


def test_news_predicts_the_logarithm_of_the_shares(root: Path) -> None:
    data = read_news(root)
    assert data.features == 58
    logs = np.log([float(row[-1]) for row in news_rows(120)[1:]])
    expected = torch.tensor(((logs - logs.min()) / np.ptp(logs))[numpy_permutation(120, 0)])
    torch.testing.assert_close(outcomes(data), expected, atol=1e-14, rtol=0)


def test_adult_leaves_out_unknown_entries_and_education(tmp_path: Path) -> None:
    train, test = adult_rows(52), adult_rows(31, 1, "{}K.")
    train[3][1] = test[2][6] = " ?"
    train[7][13] = " "  # an empty field is unknown, and no category of its own
    write_adult(tmp_path, train, test)
    data = read_adult(tmp_path, train=50, test=30)
    assert data.features == 6 + 2 * 7
    rich = sum(row[-1] == " >50K" for place, row in enumerate(train) if place not in (3, 7))
    assert torch.cat([data.train.outcome, data.validation.outcome]).sum() == rich
    assert data.test.outcome.sum() == sum(row[-1] == " >50K." for row in test if " ?" not in row)


def test_blog_loses_no_first_row_and_large_counts_do_not_wrap(tmp_path: Path) -> None:
    """256 and 300 comments become 0 and 44 as unsigned bytes; the former would stay in, as no comments."""
    counts = [256, 300, *[0, 1, 2, 3] * 10, *[4] * 6]
    write(tmp_path / "train.csv", blog_rows(48, comments=counts))
    write(tmp_path / "test.csv", blog_rows(12, 1, comments=[1000, *[1] * 11]))
    data = read_blog(tmp_path, train=46, test=11)
    outcome = torch.cat([data.train.outcome, data.validation.outcome])
    assert sorted(outcome.tolist()) == sorted(count / 4 for count in counts[2:])
    assert data.test.outcome.tolist() == [0.25] * 11


def test_features_without_variation_in_the_training_rows_are_dropped() -> None:
    numeric = pd.DataFrame({"same": 1.0, "late": [0.0] * 20 + [1.0] * 5, "one": np.arange(25.0)})
    rows = Columns(numeric, None, np.linspace(0, 1, 25))
    train, test = rows.rows(np.arange(20)), rows.rows(np.arange(20, 25))
    data = prepared("made up", "nowhere", train, test, known(20, 5))
    assert data.features == 1
    assert all(part.inputs.isfinite().all() for part in data.parts.values())


def test_fewer_rows_are_the_first_and_the_note_says_so(root: Path) -> None:
    whole = read_compas(root)
    assert whole.first(None) is whole
    assert whole.first(95) is whole
    for wrong in (0, -1, 2.5, True, "many"):
        said = error_message(DataError, whole.first, wrong)
        assert said.startswith("rows must be null or a whole number of at least 1, ")
    some = whole.first(30)
    assert torch.equal(some.train.inputs, whole.train.inputs[:30])
    assert torch.equal(some.test.outcome, whole.test.outcome)
    assert torch.equal(some.validation.inputs, whole.validation.inputs)
    assert some.note == "budget: 30 of 95 training rows and 24 of 24 test rows"
    data = read_news(root, note="a subset")
    assert data.note == "a subset"
    assert data.first(10).note == "a subset; budget: 10 of 95 training rows and 10 of 24 test rows"


def test_breast_cancer_needs_no_folder() -> None:
    data = breast_cancer.load_tumours(None, split_seed=0, variants=known(455, 114))
    assert (len(data.train), len(data.validation), len(data.test), data.features) == (450, 5, 114, 30)


def test_files_may_be_gzipped(root: Path) -> None:
    plain = read_compas(root)
    (root / "c.csv.gz").write_bytes(gzip.compress((root / "c.csv").read_bytes()))
    (root / "c.csv").unlink()
    assert torch.equal(read_compas(root).train.inputs, plain.train.inputs)


def test_outcomes_that_are_the_same_are_zero() -> None:
    assert from_zero_to_one(np.full(3, 7.0)).tolist() == [0.0, 0.0, 0.0]
    assert from_zero_to_one(np.array([3.0, 5.0, 4.0])).tolist() == [0.0, 1.0, 0.5]


def without(column: str) -> list[list[Any]]:
    place = COMPAS_HEADER.index(column)
    return [[*row[:place], *row[place + 1 :]] for row in [COMPAS_HEADER, *compas_rows(120)]]


def repeated(column: str) -> list[list[Any]]:
    """Rows with a second column whose name has a blank behind it."""
    place = COMPAS_HEADER.index(column)
    return [[*COMPAS_HEADER, f"{column} "], *([*row, row[place]] for row in compas_rows(120))]


def with_value(column: str, value: Any, row: int = 2) -> list[list[Any]]:
    rows = compas_rows(120)
    rows[row][COMPAS_HEADER.index(column)] = value
    return [COMPAS_HEADER, *rows]


def with_cell(lines: list[list[Any]], row: int, value: Any, column: int = -1) -> list[list[Any]]:
    lines[row][column] = value
    return lines


BAD: list[tuple[Callable[[Path], TabularData], str, list[list[Any]], str]] = [
    (read_compas, "c.csv", without("age"), "must have the columns priors_count, "),
    (read_compas, "c.csv", without("age"), " (12 in all), it lacks age"),
    (read_compas, "c.csv", [["a", "b"], [1, 2]], "it lacks priors_count and 11 more"),
    (read_compas, "c.csv", [COMPAS_HEADER], "holds no rows"),
    (read_compas, "c.csv", [], "holds no rows"),
    (read_compas, "c.csv", with_value("age", "old"), "numbers in the column age, 'old' stands in row 3"),
    (read_compas, "c.csv", with_value("age", ""), "numbers in the column age, nothing stands in row 3"),
    (read_compas, "c.csv", with_value("age", "inf"), "numbers in the column age, 'inf' stands in row 3"),
    (read_compas, "c.csv", with_value("is_recid", "yes"), "in the column is_recid, 'yes' stands in row 3"),
    (read_compas, "c.csv", with_value("two_year_recid", 2), "must hold 0 or 1 in the column two_year_recid"),
    (read_compas, "c.csv", [COMPAS_HEADER, *compas_rows(30)], "has 1 + 1 or 96 + 24 training and test rows"),
    (read_compas, "c.csv", [COMPAS_HEADER, *compas_rows(30)], " leaves 24 + 6"),
    (read_compas, "c.csv", [COMPAS_HEADER, [1] * 40], "cannot be read as CSV: Length of header"),
    (read_compas, "c.csv", with_value("race", ""), "a category in the column race, nothing stands in row 3"),
    (read_compas, "c.csv", repeated("age"), "must have the column age once, another one differs in white "),
    (read_compas, "c.csv", repeated("sex"), "must have the column sex once, another one differs in white "),
    (read_news, "n.csv", with_cell(news_rows(120), 5, 0), "numbers in the column shares, not so in row 5"),
    (read_news, "n.csv", [["url", "shares"], ["x", 3]], "it lacks n_tokens_title and 57 more"),
    (read_adult, "a.data", with_cell(adult_rows(120), 9, " 50K"), "in the column income, '50K' was found"),
    (read_adult, "a.data", [[*row[:-1], 1] for row in adult_rows(9)], "in the column income, '1' was found"),
    (read_adult, "a.data", [row[:-1] for row in adult_rows(120)], "must have 15 columns, it has 14"),
    (read_adult, "a.data", [[" ?"] * 15] * 3, "holds no row in which all entries are known"),
    (read_blog, "test.csv", [row[:-1] for row in blog_rows(30)], "must have 281 columns, it has 280"),
    (
        read_blog,
        "test.csv",
        with_cell(blog_rows(30), 3, "many", 17),
        "must hold numbers in the column feature 18, 'many' stands in row 4",
    ),
]


@pytest.mark.parametrize(("read", "file", "lines", "sentence"), BAD)
def test_a_bad_file_is_refused_with_the_reason(
    root: Path, read: Callable[[Path], TabularData], file: str, lines: list[list[Any]], sentence: str
) -> None:
    write(root / file, lines)
    assert sentence in error_message(DataError, read, root)


@pytest.mark.parametrize("read", READERS)
def test_missing_or_damaged_files_are_refused(
    root: Path, tmp_path_factory: pytest.TempPathFactory, read: Callable[[Path], TabularData]
) -> None:
    with pytest.raises(DataError, match=r"is missing: put .* \(CSV, plain or \.gz; published at somewhere\)"):
        read(tmp_path_factory.mktemp("empty"))
    for path in root.iterdir():
        path.write_bytes(b"\x1f\x8b" + bytes(range(256)))
    assert "is damaged or cannot be read" in error_message(DataError, read, root)
    for path in root.iterdir():
        path.write_bytes(bytes([0xFF, 0xFE, 0x00, 0x0A]) * 50)
    error_message(DataError, read, root)


def test_too_few_or_equal_rows_are_refused() -> None:
    rows = Columns(pd.DataFrame({"one": np.arange(2.0)}), None, np.array([0.0, 1.0]))
    said = error_message(DataError, prepared, "made up", "nowhere", rows, rows, known(2, 2))
    assert "no column that differs between the training rows" in said
    one = rows.rows(np.arange(1))
    said = error_message(DataError, prepared, "made up", "nowhere", one, rows, known(1, 2))
    assert "leaves no rows to train and test made up with" in said


ROWS = Part(torch.ones(3, 2).double(), torch.tensor([0.0, 0.5, 1.0]).double())
PARTS: list[tuple[str, Part, str]] = [
    ("train", Part(ROWS.inputs, ROWS.outcome + 1), "must be from 0 to 1, 1.5 was given"),
    ("test", Part(ROWS.inputs, 2 * ROWS.outcome - 1), "the test part of mine must be from 0 to 1, -1 was"),
    ("validation", Part(ROWS.inputs, ROWS.outcome * math.nan), "must be from 0 to 1, nan was given"),
    ("test", Part(ROWS.inputs * math.inf, ROWS.outcome), "inputs of the test part of mine must be finite"),
    ("test", Part(ROWS.inputs[:, :1], ROWS.outcome), "the 2 features of the train part, 1 were given"),
    ("validation", ROWS.first(0), "at least one row, shapes (0, 2) and (0,) were given"),
    ("test", Part(ROWS.inputs, ROWS.outcome[:2]), "shapes (3, 2) and (2,) were given"),
]


@pytest.mark.parametrize(("name", "part", "sentence"), PARTS)
def test_rows_of_ones_own_are_refused_with_the_reason(name: str, part: Part, sentence: str) -> None:
    parts = {"train": ROWS, "validation": ROWS, "test": ROWS}
    TabularData("mine", **parts)
    assert sentence in error_message(DataError, partial(TabularData, "mine", **parts | {name: part}))


# Rows of the three parts, features, mean outcome of the training rows, beginning of the note.
REAL = {
    "compas": (4887, 50, 1235, 13, 0.4608, None),
    "news": (12542, 127, 3168, 58, 0.4962, "subset: 15,837 of 39,644 articles"),
    "adult": (29860, 302, 15060, 88, 0.2489, None),
    "blog": (46814, 473, 7027, 276, 0.0940, None),
}


@pytest.mark.data
@pytest.mark.parametrize("name", list(REAL))
def test_the_real_set_is_as_described(name: str) -> None:
    if ROOT is None or not Path(ROOT).is_dir():
        pytest.skip("DATA_ROOT names no folder of data sets")
    load, options = described("tabular", name)
    try:
        data = load(ROOT, split_seed=78712, **options)
    except DataError as error:
        if "is missing" in str(error):
            pytest.skip(f"{name} is not below DATA_ROOT")
        raise
    train, validation, test, features, mean, note = REAL[name]
    assert [len(part) for part in data.parts.values()] == [train, validation, test]
    assert data.features == features
    assert data.train.outcome.mean().item() == pytest.approx(mean, abs=1e-4)
    assert data.note == note or str(data.note).startswith(str(note))
    for part in data.parts.values():
        assert part.inputs.isfinite().all()
        assert ((part.outcome >= 0) & (part.outcome <= 1)).all()
    torch.testing.assert_close(
        data.train.inputs.std(0, correction=0), torch.ones(features).double(), atol=1e-9, rtol=0
    )
