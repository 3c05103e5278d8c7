"""What is refused of tabular data and binary networks: one sentence, status 2, before any work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.config import tabular
from tests.runner.commands.test_bad_input import refused
from tests.runner.conftest import Call
from tests.support.small_tables import COMPAS_HEADER, adult_rows, compas_rows, write

SMALL = "scale=smoke target=binary_bnn sampler=dmala sampler.step_size=0.1 metric=[predictive_rmse]"
WHOLE = "must be a whole number of at least 1"
FILE = "compas_scores_two_years.csv"

SETTINGS = [
    (
        "target.tabular=compass",
        "target.tabular must be one of adult, blog, breast_cancer, compas, news, 'comp",
    ),
    ("target.tabular=compass", "'compass' was given; did you mean 'compas'?"),
    ("target.tabular=null", "target.tabular must be one of"),
    ("target.tabular=mnist", "'mnist' was given"),
    ("target.n_hidden=0", f"target.n_hidden {WHOLE}, 0 was given."),
    ("target.n_hidden=-2", f"target.n_hidden {WHOLE}, -2 was given."),
    ("target.n_hidden=2.5", f"target.n_hidden {WHOLE}, 2.5 was given."),
    ("target.n_hidden=many", f"target.n_hidden {WHOLE}, 'many' was given."),
    ("target.rows=0", "target.rows must be null or a whole number of at least 1, 0 was given."),
    ("target.rows=some", "target.rows must be null or a whole number of at least 1, 'some' was given."),
    ("target.scale=0", "target.scale must be a positive number, 0 was given."),
    ("target.split_seed=-1", "target.split_seed must be a whole number from 0 to 4294967295, -1 was given."),
    ("target.split_seed=abc", "'abc' was given"),
    ("target.row=5", "Unknown key 'target.row'; did you mean 'target.rows'?"),
    ("target.dataset=compas", "Unknown key 'target.dataset'"),
    (
        "target.tabular=adult",
        "adult needs a folder of data sets, say where with DATA_ROOT=DIR or data.root=DIR",
    ),
    ("target.tabular=adult data.root=nowhere", "must be a folder that exists, 'nowhere' was given"),
    ("metric.predictive_rmse.every=0", f"metric.predictive_rmse.every {WHOLE}, 0 was given"),
]


@pytest.fixture(autouse=True)
def _no_data_but_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATA_ROOT", raising=False)
    tabular._load.cache_clear()


@pytest.mark.parametrize(("given", "sentence"), SETTINGS, ids=[given for given, _ in SETTINGS])
def test_a_setting_is_refused(call: Call, tmp_path: Path, given: str, sentence: str) -> None:
    mine = "" if "tabular=" in given else "target.tabular=breast_cancer"
    said = refused(call, f"{SMALL} {mine} {given}")
    assert sentence in said
    assert said.count("\n") == 1
    assert not list(tmp_path.glob("outputs/runs/*"))


def changed(column: str, value: Any) -> list[list[Any]]:
    rows = compas_rows(30)
    rows[4][COMPAS_HEADER.index(column)] = value
    return [COMPAS_HEADER, *rows]


FILES = [
    (None, f"compas is missing: put {FILE} (CSV, plain or .gz; published at github.com/propublica/"),
    ([["name", "age"], ["me", 30]], "must have the columns priors_count, juv_fel_count, juv_misd_count,"),
    ([["name", "age"], ["me", 30]], "it lacks priors_count and 10 more."),
    (changed("age", "old"), "must hold numbers in the column age, 'old' stands in row 5."),
    (changed("priors_count", "two"), "must hold numbers in the column priors_count, 'two' stands in row 5."),
    ([COMPAS_HEADER], "holds no rows."),
    ([], "holds no rows."),
    ([COMPAS_HEADER, *compas_rows(30)], "compas has 4,937 + 1,235 training and test rows, '"),
]


@pytest.mark.parametrize(("lines", "sentence"), FILES, ids=[str(place) for place in range(len(FILES))])
def test_a_file_is_refused(call: Call, tmp_path: Path, lines: list[list[Any]] | None, sentence: str) -> None:
    (tmp_path / "data").mkdir()
    if lines is not None:
        write(tmp_path / "data" / FILE, lines)
    said = refused(call, f"{SMALL} target.tabular=compas data.root=data")
    assert sentence in said
    assert said.count("\n") == 1
    assert not list(tmp_path.glob("outputs/runs/*"))


def test_half_of_a_set_is_refused(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "data" / "adult.data", adult_rows(10))
    said = refused(call, f"{SMALL} target.tabular=adult data.root=data")
    assert "adult is missing: put adult.data and adult.test (CSV, plain or .gz;" in said


def test_metrics_of_predictions_are_refused_for_other_targets(call: Call) -> None:
    for metric in ("predictive_rmse", "validation_rmse", "predictive_log_likelihood"):
        said = refused(call, f"target=bernoulli4 sampler=dmala sampler.step_size=0.1 metric={metric}")
        assert (
            f"metric: {metric} needs a target that predicts the rows of a table; Bernoulli4 does not." in said
        )
