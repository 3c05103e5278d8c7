"""What a command lets each key be."""

from __future__ import annotations

import pytest

from runner.config.choices import choices_of, values_of
from runner.config.overrides import parse
from runner.execution.errors import UserError


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("range(0.1,0.5,0.1)", ["0.1", "0.2", "0.3", "0.4"]),
        ("range(0.1,0.8,0.1)", ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]),
        ("range(0.5,0.1,-0.1)", ["0.5", "0.4", "0.3", "0.2"]),
        ("range(0.8,0.1,-0.1)", ["0.8", "0.7", "0.6", "0.5", "0.4", "0.3", "0.2"]),
        ("range(1e-5,4e-5,1e-5)", ["1e-05", "2e-05", "3e-05"]),
        ("range(1,2,0.25)", ["1.0", "1.25", "1.5", "1.75"]),
        ("range(10,100,30)", ["10", "40", "70"]),
        ("0.1,0.30000000000000004", ["0.1", "0.30000000000000004"]),
        ("sort(range(0.1,0.5,0.1))", ["0.1", "0.2", "0.3", "0.4"]),
        ("sort(range(0.1,0.5,0.1),reverse=true)", ["0.4", "0.3", "0.2", "0.1"]),
        ("sort(range(0.1,0.8,0.1),reverse=true)", ["0.7", "0.6", "0.5", "0.4", "0.3", "0.2", "0.1"]),
        ("sort(range(0.1,0.75,0.2),reverse=true)", ["0.7", "0.5", "0.3", "0.1"]),
        ("sort(range(0.9,0.1,-0.3))", ["0.3", "0.6", "0.9"]),
        ("sort(sweep=range(0.8,0.1,-0.1))", ["0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8"]),
        ("sort(range(1,10,4),reverse=true)", ["9", "5", "1"]),
        ("sort(range(10,1,-4))", ["2", "6", "10"]),
        ("sort(range(1,3,0.5),reverse=true)", ["2.5", "2.0", "1.5", "1.0"]),
        ("sort(3,1,2,reverse=true)", ["3", "2", "1"]),
    ],
)
def test_a_range_has_the_numbers_that_one_would_write(written: str, values: list[str]) -> None:
    assert choices_of(parse([f"key={written}"])) == {"key": [f"key={value}" for value in values]}


def test_of_a_key_that_is_given_twice_the_last_holds() -> None:
    given = ["seed=0", "target=mog", "seed=1,2", "target=mos", "scale=quick", "seed=3"]
    assert choices_of(parse(given)) == {
        "seed": ["seed=3"],
        "target": ["target=mos"],
        "scale": ["scale=quick"],
    }


@pytest.mark.parametrize(
    "line",
    [
        "seed=range(0,3),7",
        "seed=choice(choice(1,2),3)",
        "sampler=glob(d*),gibbs",
        "seed=[range(0,3),7]",
        "target.x={a: [1, choice(2,3)]}",
    ],
)
def test_a_sweep_inside_another_value_is_refused(line: str) -> None:
    with pytest.raises(UserError, match=r"is the only value of its key, .* was given; write its values out"):
        parse([line])


def test_a_range_is_not_listed_where_it_is_too_long() -> None:
    (override,) = parse(["sampler.step_size=shuffle(range(0.1,1e12,0.1))"])
    with pytest.raises(UserError, match=r"1e12,0\.1\)\)' must be a range of at most 100,000 values\."):
        values_of(override)
