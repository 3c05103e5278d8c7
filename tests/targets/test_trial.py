"""What a target gives is tried before chains run on it: gradients, and probabilities where it has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from targets import (
    Bernoulli4,
    Binary,
    IndependentLevels,
    Ising,
    LogQuadratic,
    MixtureOfGaussians,
    Streams,
    Target,
)
from targets.checks import is_number, positive_number, whole_number
from targets.trial.probabilities_trial import MOST, try_probabilities
from targets.trial.target_trial import try_modes, try_target


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


def without(state: int) -> Tensor:
    """The right ones of three bits, but for one state, which has none."""
    made = right(3).index_fill(0, torch.tensor(state), 0.0)
    return made / made.sum()


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
        *(
            (without(state), "has the probability 0, though its log density is only [04] below")
            for state in (1, 7)
        ),
    ],
)
def test_wrong_probabilities_are_one_sentence(made: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=rf"^The probabilities of mine .*({sentence})"):
        try_probabilities("mine", Counted(3, made))


class Held(Target):
    """Its probabilities are a buffer."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.space = Binary(d)
        self.register_buffer("probabilities", torch.full((2,), 0.5))

    def log_prob(self, theta: Tensor) -> Tensor:
        return 0.0 * theta.sum(-1)


class Raising(Counted):
    def probabilities(self) -> object:
        raise KeyError("nothing")


def test_probabilities_that_cannot_be_asked_for_are_one_sentence() -> None:
    for d in (1, 20):
        with pytest.raises(ValueError, match=r"^The probabilities of mine must be .*, not a Tensor;"):
            try_probabilities("mine", Held(d))
    said = (
        r"^The probabilities of mine cannot be evaluated: KeyError: 'nothing' \(test_trial.py, line \d+\)\.$"
    )
    with pytest.raises(ValueError, match=said):
        try_probabilities("mine", Raising(3, None))


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


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_probabilities_that_the_dtype_rounds_to_zero_are_right(dtype: torch.dtype) -> None:
    """None of the states that are looked at is a likely one: in float32 all of them have none."""
    space = Binary(14)
    peaked, far = Counted(14, None), torch.arange(space.size) != 7_000  # between two that are looked at

    def log_prob(theta: Tensor) -> Tensor:
        return -(103.0 + 1.5 * theta[..., 0]) * far[space.index(theta)].to(theta.dtype)

    peaked.log_prob = log_prob  # type: ignore[method-assign]
    states = space.states(dtype)
    peaked.made = peaked.log_prob(states).softmax(-1)
    peaked.register_buffer("of_this_dtype", torch.zeros((), dtype=dtype))
    try_probabilities("peaked", peaked)


@pytest.mark.parametrize(("made", "got"), [(torch.zeros(2), r"\(2,\)"), (None, "a NoneType")])
def test_gradients_that_are_not_those_of_the_states_are_refused(made: object, got: str) -> None:
    target = Counted(3, None)
    target.log_prob_and_grad = lambda theta: (target.log_prob(theta), made)  # type: ignore[assignment, return-value]
    with pytest.raises(ValueError, match=rf"gave gradients of shape {got}, \(2, 3\) was expected"):
        try_target("mine", target, torch.zeros(2, 3), gradient=True)


STATES = torch.tensor([[[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]])


@pytest.mark.parametrize(
    ("log_prob", "said"),
    [
        (lambda theta: theta.mul_(2.0).sum(-1), "must not change the states that it is given"),
        (lambda theta: theta.sum(-1) + 0.0 * torch.rand(()), "torch's global generator; a log density must"),
        (
            lambda theta: theta.sum(-1) - theta.sum(-1).mean(),
            "the same log density whatever others .* gave 1 and 0",
        ),
        (
            # One seed is tried, so that a mean over seeds changes nothing there.
            lambda theta: (theta - theta.mean(0)).square().sum(-1) - theta.sum(-1),
            r"the same log density whatever others .* it gave -2 and -1\.5",
        ),
        (
            lambda theta: theta.sum(-1).reshape(1, -1),
            r"whatever the batch axes; for states of shape \(1, 3\)",
        ),
        (lambda theta: theta.sum(-1) > 0, "log densities of type torch.bool, torch.float32 was expected"),
        (lambda theta: {}["U"], r"cannot be evaluated: KeyError: 'U' \(test_trial.py, line \d+\)\."),
    ],
)
def test_what_a_log_density_must_not_do(log_prob: Any, said: str) -> None:
    target = Counted(3, None)
    target.log_prob = log_prob  # type: ignore[method-assign]
    with pytest.raises(ValueError, match=f"^The target mine .*{said}"):
        try_target("mine", target, STATES.clone(), gradient=False)


def test_starting_states_outside_of_the_space_are_refused() -> None:
    """The kernel was blamed for them, or took them for others."""
    said = r"^The target mine must start in its space Binary\(d=3.*\), its initial states have \[-1.0, 1"
    with pytest.raises(ValueError, match=said):
        try_target("mine", Counted(3, None), 2.0 * STATES[:, :1] - 1.0, gradient=False)


class WithModes(Counted):
    """Two modes, and what `shares` gives for states."""

    def __init__(self, modes: object, shares: Any) -> None:
        super().__init__(3, None)
        self.modes, self.shares = modes, shares

    def responsibilities(self, theta: Tensor) -> Any:
        return self.shares(theta)


TWO = torch.tensor([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])


def evenly(theta: Tensor) -> Tensor:
    return torch.full((*theta.shape[:-1], 2), 0.5)


@pytest.mark.parametrize(
    ("modes", "shares", "said"),
    [
        (TWO[0], evenly, r"modes of mine must be a tensor of shape \(modes, 3\), not shape \(3,\)"),
        ([[0.0] * 3], evenly, "modes of mine must be a tensor of shape .*, not a list"),
        (TWO, lambda theta: theta.mean(-1), r"responsibilities of mine must have the shape \(1, 2, 2\), not"),
        (
            TWO,
            lambda theta: 2.0 * evenly(theta),
            "responsibilities of mine must sum to 1 over the modes, not to 2",
        ),
        # Right at both starting states, and 2 and -1 in the second mode.
        (
            TWO,
            lambda theta: torch.stack((2.0 * theta[..., 0], 1.0 - 2.0 * theta[..., 0]), -1),
            "responsibilities of mine must be at least 0, not -1",
        ),
        (TWO, lambda theta: {}["p"], "responsibilities of mine cannot be evaluated: KeyError: 'p'"),
    ],
)
def test_wrong_modes_are_one_sentence(modes: object, shares: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"^The {said}"):
        try_modes("mine", WithModes(modes, shares), STATES)


def test_right_modes_pass() -> None:
    try_modes("mine", WithModes(TWO, evenly), STATES)
    try_modes("none", Counted(3, None), STATES)
    mixture = MixtureOfGaussians(components=4)
    try_modes("ours", mixture, mixture.initial((1, 2), Streams([0], "start")))


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
