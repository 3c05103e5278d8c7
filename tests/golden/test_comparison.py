"""The comparison of numbers: what counts as a difference, on this and on another machine, and its files."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.golden.expectation import Expected, differences, load, save
from tests.golden.reading import Result, flat, is_time, tuned

MACHINE = {"cpu": "one", "instructions": "AVX2", "torch": "2"}
RESULT: Result = {
    "seed 0, labels": {"target": "mog", "exact": True, "notes": []},
    "seed 0, step 4": {"tv": 0.1 + 0.2, "kl": math.nan, "ess": math.inf, "weights": "0123456789abcdef"},
}


def changed(name: str, value: object) -> Result:
    return {**RESULT, "seed 0, step 4": {**RESULT["seed 0, step 4"], name: value}}


def test_equal_results_have_no_difference() -> None:
    assert not list(differences("case", RESULT, changed("kl", math.nan)))


@pytest.mark.parametrize(
    ("name", "value", "differs_on_another_machine"),
    [
        ("tv", 0.3, False),
        ("tv", 0.3 + 1e-5, True),
        ("tv", None, True),
        ("kl", 0.0, True),
        ("ess", -math.inf, True),
        ("weights", "0123456789abcdee", False),
        ("rhat", 1.0, True),
    ],
)
def test_a_value_that_differs_is_a_difference(
    name: str, value: object, differs_on_another_machine: bool
) -> None:
    (found,) = differences("case", RESULT, changed(name, value))
    assert (found.section, found.name) == ("seed 0, step 4", name)
    assert len(list(differences("case", RESULT, changed(name, value), 1e-6))) == differs_on_another_machine


def test_every_value_of_a_missing_or_new_section_is_a_difference() -> None:
    without = {name: section for name, section in RESULT.items() if "labels" not in name}
    assert [each.got for each in differences("case", RESULT, without)] == [None, None, None]
    assert [each.expected for each in differences("case", without, RESULT)] == [None, None, None]


def test_a_file_keeps_every_bit(tmp_path: Path) -> None:
    save("group", {"group/case": Expected(MACHINE, "abc", RESULT)}, tmp_path)
    kept = load("group", tmp_path)["group/case"]
    assert (kept.machine, kept.commit) == (MACHINE, "abc")
    assert not list(differences("case", RESULT, kept.result))


def test_a_file_of_two_machines_is_refused(tmp_path: Path) -> None:
    cases = {name: Expected({**MACHINE, "cpu": name}, "abc", RESULT) for name in ("one", "two")}
    with pytest.raises(ValueError, match="2 machines"):
        save("group", cases, tmp_path)


def test_times_are_left_out() -> None:
    said = {"seconds": 1.0, "report": {"barrier": [1.0], "ais_seconds": 2.0}, "history": [{"loss": 1.0}]}
    assert flat(said) == {"report.barrier": [1.0], "history.0.loss": 1.0}
    assert is_time("seconds_per_step")
    assert not is_time("steps_to_threshold")


def test_sentences_of_a_tuning_are_left_out() -> None:
    report = {"reached_acceptance": [0.7], "warnings": ["at 11.9 it is 0.70"]}
    said = {"evaluations": 30, "hyperparameters": {"step_size": 11.9}, "report": report, "sampler": "ab"}
    kept = {"evaluations": 30, "hyperparameters.step_size": 11.9, "report.reached_acceptance": [0.7]}
    assert tuned(said) == kept
