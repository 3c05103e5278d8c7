"""What a target gives is tried before chains run on it: gradients, and probabilities where it has them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from targets import Bernoulli4, Binary, IndependentLevels, Ising, LogQuadratic, Target
from targets.checks import is_number, positive_number, whole_number
from targets.trial import MOST, try_probabilities, try_target


class Counted(Target):
    """U is twice the number of ones among `d` bits; `made` is what it gives as its probabilities."""

    def __init__(self, d: int, made: object) -> None:
        super().__init__()
        self.space, self.made = Binary(d), made

    def log_prob(self, theta: Tensor) -> Tensor:
        return 2.0 * theta.sum(-1)

    def probabilities(self) -> object:
        return self.made


def right(d: int) -> Tensor:
    return (2.0 * Binary(d).states().sum(-1)).softmax(-1)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (right(3).tolist(), r"must have the shape \(8,\), not a list|not \["),
        (right(4), r"must have the shape \(8,\), not shape \(16,\)\."),
        (right(3) * 2, r"sum to 1; the smallest is .* and their sum 2\."),
        (torch.full((8,), float("nan")), "their sum nan"),
        (torch.eye(8)[0] * 3 - 0.25, "must be at least 0 and sum to 1; the smallest is -0.25"),
        (torch.full((8,), 1 / 8), "not those of its log density: .* differs by 6"),
        (right(3).flip(0), "not those of its log density"),
    ],
)
def test_wrong_probabilities_are_one_sentence(made: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=rf"^The probabilities of mine .*({sentence})"):
        try_probabilities("mine", Counted(3, made))


def test_right_ones_pass_and_large_spaces_are_not_looked_at() -> None:
    for target in (Bernoulli4(), IndependentLevels(), LogQuadratic(d=6), Ising(size=3), Counted(3, right(3))):
        for each in (target.double(), target.float()):
            try_probabilities("ours", each)
    assert Binary(17).size > MOST
    try_probabilities("large", Counted(17, None))


def test_states_of_probability_zero_say_nothing() -> None:
    # 2,000 nats apart: all but one of the probabilities are rounded to zero.
    steep = Counted(2, torch.tensor([0.0, 0.0, 0.0, 1.0]))
    steep.log_prob = lambda theta: 1000.0 * theta.sum(-1)  # type: ignore[method-assign]
    try_probabilities("steep", steep)


@pytest.mark.parametrize(("made", "got"), [(torch.zeros(2), r"\(2,\)"), (None, "a NoneType")])
def test_gradients_that_are_not_those_of_the_states_are_refused(made: object, got: str) -> None:
    target = Counted(3, None)
    target.log_prob_and_grad = lambda theta: (target.log_prob(theta), made)  # type: ignore[assignment, return-value]
    with pytest.raises(ValueError, match=rf"gave gradients of shape {got}, \(2, 3\) was expected"):
        try_target("mine", target, torch.zeros(2, 3), gradient=True)


def test_numbers_of_numpy_are_numbers_and_truth_values_are_none() -> None:
    for value in (np.float32(0.5), np.float64(0.5), 0.5):
        assert is_number(value)
        assert positive_number("step_size", value) == 0.5
    found = whole_number("steps", np.int32(7))
    assert (found, type(found)) == (7, int)
    for value in (True, np.bool_(True), torch.tensor(1.0), "1", None):
        assert not is_number(value)
    for value in (np.float32(7.0), np.bool_(True), np.int64(0)):
        with pytest.raises(ValueError, match="steps must be a whole number of at least 1"):
            whole_number("steps", value)
