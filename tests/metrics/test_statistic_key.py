"""The keys of shared statistics: two with other arguments are two, also in the process that resumes."""

from __future__ import annotations

import math
import subprocess
import sys
from functools import partial
from typing import Any

import pytest
import torch

from metrics.metric import Context, Statistic
from metrics.statistic_key import statistic_key
from targets import Bernoulli4
from tests.support.measuring import context

LARGE = 1156
"""Entries of which torch prints only the first and the last."""


class Sums(Statistic):
    def __init__(self, context: Context, **given: Any) -> None:
        super().__init__(context)
        self.given = given


def first(theta: torch.Tensor) -> torch.Tensor:
    return theta[..., 0]


def one_hot(place: int) -> torch.Tensor:
    return torch.nn.functional.one_hot(torch.tensor(place), LARGE).double()


def test_statistics_with_large_tensors_that_differ_are_two() -> None:
    run = context(Bernoulli4())
    middle, next_to_it = (run.statistic(Sums, weights=one_hot(LARGE // 2 + place)) for place in (0, 1))
    assert repr(middle.given) == repr(next_to_it.given)
    assert middle is not next_to_it
    assert run.statistic(Sums, weights=one_hot(LARGE // 2)) is middle


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (torch.zeros(2, 3), torch.zeros(3, 2)),
        (torch.zeros(2), torch.zeros(2, dtype=torch.float64)),
        (torch.zeros(4), torch.zeros(2, dtype=torch.float64)),
        (torch.tensor(1.0), torch.tensor(1.0 + 2**-23)),
        ((1, (2, 3)), ((1, 2), 3)),
        ("1", 1),
        (None, "None"),
        (first, one_hot),
        (first, f"{__name__}.first"),
        ((1, 2), (12,)),
    ],
)
def test_other_arguments_give_other_keys(one: Any, other: Any) -> None:
    assert statistic_key(Sums, {"given": one}) != statistic_key(Sums, {"given": other})
    assert statistic_key(Sums, {"given": one}) != statistic_key(Sums, {"other": one})


def test_the_layout_of_a_tensor_does_not_count() -> None:
    square = torch.arange(9.0).reshape(3, 3)
    turned = square.T.contiguous()
    assert statistic_key(Sums, {"given": square.T}) == statistic_key(Sums, {"given": turned})


def test_keys_of_plain_values_are_those_of_earlier_checkpoints() -> None:
    given = {"low": -1.0, "bins": 8, "part": "test", "every": None}
    said = "bins=8, every=None, low=-1.0, part='test'"
    assert statistic_key(Sums, given) == f"{__name__}.Sums({said})"


def test_the_key_of_a_function_is_the_same_in_every_process() -> None:
    code = f"from {__name__} import *; print(statistic_key(Sums, {{'function': (first, math.exp, Sums)}}))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip() == statistic_key(Sums, {"function": (first, math.exp, Sums)})


@pytest.mark.parametrize("given", [lambda theta: theta, partial(first), {"a": 1}, (1, object()), [1].append])
def test_what_cannot_be_told_in_another_process_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"^the statistic Sums must have numbers, .* arguments, given is "):
        context(Bernoulli4()).statistic(Sums, given=given)
