"""What is refused of tables, binary networks and the travelling salesman: one sentence, before any work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.config.data import tabular
from tests.support.commands import Call, check_refused_values, refusal, refused
from tests.support.targets.small_tables import COMPAS_HEADER, adult_rows, compas_rows, write

NETWORK = "scale=smoke target=binary_bnn sampler=dmala sampler.step_size=0.1 metric=[predictive_rmse]"
TSP = "target=tsp sampler=tour_swap metric=tour_cost task.steps=20 task.chains=3"
WHOLE = "a whole number of at least 1"
FILE = "compas_scores_two_years.csv"
HEAD = "NAME: own\nTYPE: TSP\nDIMENSION: 4\n"
POINTS = "NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 1 1\n4 6 0\nEOF\n"


@pytest.fixture(autouse=True)
def _no_data_but_our_own(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder."""
    monkeypatch.delenv("DATA_ROOT", raising=False)
    tabular._load.cache_clear()


def refused_before_any_run(*lines: str) -> str:
    said = refusal(*lines)
    assert not list(Path().glob("outputs/runs/*"))
    return said


TABULAR = [
    ("target.tabular=compass", "target.tabular must be one of adult, blog, breast_cancer, compas, news, 'co"),
    ("target.tabular=compass", "'compass' was given; did you mean 'compas'?"),
    ("target.tabular=null", "target.tabular must be one of"),
    ("target.tabular=mnist", "'mnist' was given"),
    ("target.row=5", "Unknown key 'target.row'; did you mean 'target.rows'?"),
    ("target.dataset=compas", "Unknown key 'target.dataset'"),
    ("target.tabular=adult", "adult needs a folder of data sets, say where with DATA_ROOT=DIR or data.root="),
    ("target.tabular=adult data.root=nowhere", "must be a folder that exists, 'nowhere' was given"),
    ("metric.predictive_rmse.every=0", f"metric.predictive_rmse.every must be {WHOLE}, 0 was given"),
]


@pytest.mark.parametrize(("given", "sentence"), TABULAR, ids=[given for given, _ in TABULAR])
def test_a_setting_of_a_network_is_refused(given: str, sentence: str) -> None:
    mine = "" if "tabular=" in given else "target.tabular=breast_cancer"
    assert sentence in refused_before_any_run(NETWORK, mine, given)


def changed(column: str, value: Any) -> list[list[Any]]:
    rows = compas_rows(30)
    rows[4][COMPAS_HEADER.index(column)] = value
    return [COMPAS_HEADER, *rows]


TABLES = [
    (None, f"compas is missing: put {FILE} (CSV, plain or .gz; published at github.com/propublica/"),
    ([["name", "age"], ["me", 30]], "must have the columns priors_count, juv_fel_count, juv_misd_count,"),
    ([["name", "age"], ["me", 30]], "it lacks priors_count and 10 more."),
    (changed("age", "old"), "must hold numbers in the column age, 'old' stands in row 5."),
    (changed("priors_count", "two"), "must hold numbers in the column priors_count, 'two' stands in row 5."),
    ([COMPAS_HEADER], "holds no rows."),
    ([], "holds no rows."),
    ([COMPAS_HEADER, *compas_rows(30)], "compas has 4,937 + 1,235 training and test rows, '"),
]


@pytest.mark.parametrize(("lines", "sentence"), TABLES, ids=[str(place) for place in range(len(TABLES))])
def test_a_table_is_refused(tmp_path: Path, lines: list[list[Any]] | None, sentence: str) -> None:
    (tmp_path / "data").mkdir()
    if lines is not None:
        write(tmp_path / "data" / FILE, lines)
    made_up = "" if lines is None else "data.verify=false"
    assert sentence in refused_before_any_run(NETWORK, f"target.tabular=compas data.root=data {made_up}")


def test_half_of_a_set_is_refused_by_a_whole_command(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "data" / "adult.data", adult_rows(10))
    said = refused(call, NETWORK, "target.tabular=adult data.root=data")
    assert "adult is missing: put adult.data and adult.test (CSV, plain or .gz;" in said


TOURS = [
    ("target.encoding=bit", "target.encoding must be one of bits, one_hot, 'bit' was given"),
    ("target.citys=8", "Unknown key 'target.citys'; did you mean 'target.cities'?"),
    ("target.file=nowhere.tsp", "target.file must be null or a TSPLIB file, 'nowhere.tsp' was given, which"),
    ("sampler.moves=swop", "sampler.moves must be one of both, reverse, swap, 'swop' was given; did you mea"),
    ("sampler.move=swap", "did you mean 'sampler.moves'?"),
    ("task.start=one_mode", "task.start=one_mode needs a target with known modes, TSP has none."),
]


@pytest.mark.parametrize(("given", "sentence"), TOURS, ids=[given for given, _ in TOURS])
def test_a_setting_of_a_tour_is_refused(given: str, sentence: str) -> None:
    assert sentence in refused_before_any_run(TSP, given)


NUMBERS = [
    (NETWORK, "target.n_hidden", WHOLE, "0 -2 2.5 'many'"),
    (NETWORK, "target.rows", f"null or {WHOLE}", "0 'some'"),
    (NETWORK, "target.scale", "a positive number", "0"),
    (NETWORK, "target.split_seed", "a whole number from 0 to 4294967295", "-1 'abc'"),
    (TSP, "target.cities", "a whole number of at least 3", "2 8.5 'many'"),
    (TSP, "target.scale", "a positive number or 'auto'", "0 -1 nan"),
]


@pytest.mark.parametrize(("lines", "key", "allowed", "values"), NUMBERS)
def test_a_number_is_refused(lines: str, key: str, allowed: str, values: str) -> None:
    mine = " target.tabular=breast_cancer" if lines == NETWORK else ""
    check_refused_values(lines + mine, key, allowed, values)
    assert not list(Path().glob("outputs/runs/*"))


FILES = {
    "edge-weight type": (
        f"{HEAD}EDGE_WEIGHT_TYPE: SPECIAL\n{POINTS}",
        "'own.tsp': EDGE_WEIGHT_TYPE must be one of ATT, CEIL_2D, EUC_2D, EXPLICIT, GEO, "
        "'SPECIAL' was given.",
    ),
    "missing section": (
        f"{HEAD}EDGE_WEIGHT_TYPE: EUC_2D\nEOF\n",
        "'own.tsp' has no NODE_COORD_SECTION, which EUC_2D needs.",
    ),
    "missing matrix": (
        f"{HEAD}EDGE_WEIGHT_TYPE: EXPLICIT\n{POINTS}",
        "'own.tsp' has no EDGE_WEIGHT_SECTION, which EXPLICIT needs.",
    ),
    "too few cities": (
        f"{HEAD.replace('4', '2')}EDGE_WEIGHT_TYPE: EUC_2D\n{POINTS}",
        "'own.tsp' must have a DIMENSION from 3 to 5000 cities, 2 was given.",
    ),
    "cut": (
        f"{HEAD.replace('4', '5')}EDGE_WEIGHT_TYPE: EUC_2D\n{POINTS}",
        "'own.tsp': NODE_COORD_SECTION must hold 15 finite numbers, it holds 12.",
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_of_cities_is_refused(what: str) -> None:
    content, sentence = FILES[what]
    Path("own.tsp").write_text(content)
    assert sentence in refused_before_any_run(TSP, "target.file=own.tsp")
    assert Path("own.tsp").read_text() == content


MISMATCHED = [
    ("sampler=tour_swap target=mog", "sampler: tour_swap needs a target whose states are tours, such as tsp"),
    ("sampler=pt_tour_swap target=mog", "sampler: tour_swap needs a target whose states are tours"),
    ("metric=tour_cost target=mog", "metric: tour_cost needs a target whose states are tours; those of Mix"),
    ("metric=tour_mismatch target=mog", "metric: tour_mismatch needs a target whose states are tours;"),
    ("sampler=exact_draws target=tsp target.cities=9", "needs a target that can be sampled exactly, TSP can"),
    ("metric=tv target=tsp sampler=tour_swap", "metric: tv needs a target whose states can be listed; those"),
    ("sampler=pt_tour_swap sampler.step_size=1 target=tsp", "sampler.step_size must be null around TourSwap"),
    ("metric=predictive_rmse", "metric: predictive_rmse needs a target that predicts the rows of a table; B"),
    ("metric=validation_rmse", "metric: validation_rmse needs a target that predicts the rows of a table; B"),
    ("metric=predictive_log_likelihood", "needs a target that predicts the rows of a table; Bernoulli4 does"),
]


@pytest.mark.parametrize(("command", "sentence"), MISMATCHED, ids=[command for command, _ in MISMATCHED])
def test_what_does_not_fit_together_is_refused(command: str, sentence: str) -> None:
    defaults = "" if "target=" in command else "target=bernoulli4 sampler=dmala sampler.step_size=0.1"
    assert sentence in refusal(defaults, command)


def test_a_file_beside_the_user_or_below_the_root(call: Call, tmp_path: Path) -> None:
    (tmp_path / "data" / "tsplib").mkdir(parents=True)
    (tmp_path / "data" / "tsplib" / "own.tsp").write_text(f"{HEAD}EDGE_WEIGHT_TYPE: EUC_2D\n{POINTS}")
    ended = call(*TSP.split(), "target.file=own.tsp", f"data.root={tmp_path / 'data'}")
    assert ended.status == 0, ended.err
    assert "tour_cost_best" in ended.out
    assert "target.cities must be" in refused(call, TSP, "target.cities=2")
