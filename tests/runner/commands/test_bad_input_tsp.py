"""What is refused of the travelling salesman: one sentence, status 2, before any work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runner.commands.test_bad_input import refused
from tests.runner.conftest import Call

SMALL = ("target=tsp", "sampler=tour_swap", "metric=tour_cost", "task.steps=20", "task.chains=3")
HEAD = "NAME: own\nTYPE: TSP\nDIMENSION: 4\n"
POINTS = "NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 1 1\n4 6 0\nEOF\n"

SETTINGS = [
    ("target.cities=2", "target.cities must be a whole number of at least 3, 2 was given."),
    ("target.cities=8.5", "target.cities must be a whole number of at least 3, 8.5 was given."),
    ("target.cities=many", "target.cities must be a whole number of at least 3, 'many' was given."),
    ("target.encoding=bit", "target.encoding must be one of bits, one_hot, 'bit' was given"),
    ("target.scale=0", "target.scale must be a positive number or 'auto', 0 was given."),
    ("target.scale=-1", "target.scale must be a positive number or 'auto', -1 was given."),
    ("target.scale=nan", "target.scale must be"),
    ("target.citys=8", "Unknown key 'target.citys'; did you mean 'target.cities'?"),
    ("target.file=nowhere.tsp", "target.file must be null or a TSPLIB file, 'nowhere.tsp' was given, which"),
    (
        "sampler.moves=swop",
        "sampler.moves must be one of both, reverse, swap, 'swop' was given; did you mean",
    ),
    ("sampler.move=swap", "did you mean 'sampler.moves'?"),
    ("task.start=one_mode", "task.start=one_mode needs a target with known modes, TSP has none."),
]


@pytest.mark.parametrize(("given", "sentence"), SETTINGS, ids=[given for given, _ in SETTINGS])
def test_a_setting_is_refused(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, sentence: str
) -> None:
    monkeypatch.delenv("DATA_ROOT", raising=False)
    said = refused(call, " ".join([*SMALL, given]))
    assert sentence in said
    assert said.count("\n") == 1
    assert not list(tmp_path.glob("outputs/runs/*"))


FILES = {
    "edge-weight type": (
        f"{HEAD}EDGE_WEIGHT_TYPE: SPECIAL\n{POINTS}",
        "'own.tsp': EDGE_WEIGHT_TYPE must be one of ATT, CEIL_2D, EUC_2D, EXPLICIT, GEO, SPECIAL was given.",
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
        "'own.tsp' must have a DIMENSION of at least 3 cities, 2 was given.",
    ),
    "cut": (
        f"{HEAD.replace('4', '5')}EDGE_WEIGHT_TYPE: EUC_2D\n{POINTS}",
        "'own.tsp': NODE_COORD_SECTION must hold 15 finite numbers, it holds 12.",
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_is_refused(call: Call, tmp_path: Path, what: str) -> None:
    content, sentence = FILES[what]
    Path("own.tsp").write_text(content)
    said = refused(call, " ".join([*SMALL, "target.file=own.tsp"]))
    assert sentence in said
    assert said.count("\n") == 1
    assert Path("own.tsp").read_text() == content
    assert not list(tmp_path.glob("outputs/runs/*"))


MISMATCHED = [
    (
        "sampler=tour_swap target=mog",
        "sampler: tour_swap needs a target whose states are tours, such as tsp,",
    ),
    ("sampler=pt_tour_swap target=mog", "sampler: tour_swap needs a target whose states are tours"),
    ("metric=tour_cost target=mog", "metric: tour_cost needs a target whose states are tours; those of Mix"),
    ("metric=tour_mismatch target=mog", "metric: tour_mismatch needs a target whose states are tours;"),
    (
        "sampler=exact_draws target=tsp target.cities=9",
        "needs a target that can be sampled exactly, TSP cann",
    ),
    ("metric=tv target=tsp sampler=tour_swap", "metric: tv needs a target whose states can be listed; those"),
    (
        "sampler=pt_tour_swap sampler.step_size=1 target=tsp",
        "sampler.step_size must be null around TourSwap, which has none, 1 was given.",
    ),
]


@pytest.mark.parametrize(("command", "sentence"), MISMATCHED, ids=[command for command, _ in MISMATCHED])
def test_what_does_not_fit_together_is_refused(
    call: Call, tmp_path: Path, command: str, sentence: str
) -> None:
    said = refused(call, command)
    assert sentence in said
    assert said.count("\n") == 1


def test_a_file_beside_the_user_or_below_the_root(call: Call, tmp_path: Path) -> None:
    (tmp_path / "data" / "tsplib").mkdir(parents=True)
    own = f"{HEAD}EDGE_WEIGHT_TYPE: EUC_2D\n{POINTS}"
    (tmp_path / "data" / "tsplib" / "own.tsp").write_text(own)
    ended = call(*SMALL, "target.file=own.tsp", f"data.root={tmp_path / 'data'}")
    assert ended.status == 0, ended.err
    assert "tour_cost_best" in ended.out
