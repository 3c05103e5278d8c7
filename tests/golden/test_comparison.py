"""The comparison of numbers: what counts as a difference, on this and on another machine, and its files."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.golden.cases import is_sensitive
from tests.golden.expectation import (
    BITS,
    OTHER_MACHINE,
    SENSITIVE,
    SOLVED,
    Expected,
    differences,
    load,
    save,
)
from tests.golden.reading import Result, flat, is_time, tuned

MACHINE = {"cpu": "one", "instructions": "AVX2", "torch": "2"}
DIGESTS = {
    "weights": "0123456789abcdef",
    "samples": "0123456789abcdef",
    "draws": "uint8 [2] 0123456789abcdef",
    "means": "float64 [2] 0123456789abcdef",
}
RESULT: Result = {
    "seed 0, labels": {"target": "mog", "exact": True, "notes": []},
    "seed 0, step 4": {"tv": 0.1 + 0.2, "kl": math.nan, "ess": math.inf, "gap": 1e-12, **DIGESTS},
}


def changed(name: str, value: object) -> Result:
    return {**RESULT, "seed 0, step 4": {**RESULT["seed 0, step 4"], name: value}}


def test_equal_results_have_no_difference() -> None:
    assert not list(differences("case", RESULT, changed("kl", math.nan)))


@pytest.mark.parametrize(
    ("name", "value", "differs_on_another_machine"),
    [
        ("tv", 0.3, False),
        ("tv", 0.3 + 1e-10, False),
        ("tv", 0.3 + 1e-8, True),
        ("tv", None, True),
        ("gap", 2e-12, False),
        ("gap", 1e-10, True),
        ("kl", 0.0, True),
        ("ess", -math.inf, True),
        ("weights", "0123456789abcdee", False),
        ("weights", None, True),
        ("weights", 1.0, True),
        ("samples", "0123456789abcdee", True),
        ("draws", "uint8 [2] 0123456789abcdee", True),
        ("means", "float64 [2] 0123456789abcdee", False),
        ("rhat", 1.0, True),
    ],
)
def test_a_value_that_differs_is_a_difference(
    name: str, value: object, differs_on_another_machine: bool
) -> None:
    (found,) = differences("case", RESULT, changed(name, value))
    assert (found.section, found.name) == ("seed 0, step 4", name)
    found_there = list(differences("case", RESULT, changed(name, value), OTHER_MACHINE))
    assert len(found_there) == differs_on_another_machine


def test_values_of_ranks_may_differ_on_another_machine_where_equal_values_are_sorted_otherwise() -> None:
    expected = changed("ess", 100.0)
    assert not list(differences("case", expected, changed("ess", 101.0), OTHER_MACHINE))
    assert list(differences("case", expected, changed("ess", 103.0), OTHER_MACHINE))
    assert list(differences("case", expected, changed("ess", 100.0 + 1e-13)))


def test_how_close_numbers_must_be_depends_on_the_machine_and_on_how_they_were_made() -> None:
    expected, other = Expected(MACHINE, "abc", RESULT), {**MACHINE, "torch": "3"}
    assert expected.closeness({**MACHINE, "python": "4"}) == BITS
    assert expected.closeness(MACHINE, solved=True) == SOLVED
    assert expected.closeness(MACHINE, sensitive=True) == BITS
    assert expected.closeness(other) == OTHER_MACHINE
    assert expected.closeness(other, sensitive=True) == SENSITIVE


def test_errors_of_rounding_grow_in_networks_fitted_to_images_and_in_tiny_gaps() -> None:
    assert is_sensitive("rbm/classify_sampler")
    assert is_sensitive("experiments/reld_theorem1")
    assert not is_sensitive("rbm/own_images")
    assert not is_sensitive("gaps/ld")


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
