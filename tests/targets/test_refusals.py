"""What constructors of targets refuse, one line an argument, and the checks that they share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from targets import (
    RBM,
    TSP,
    Binary,
    BinaryBNN,
    GaussianMixture,
    MinibatchLogistic,
    MixtureOfGaussians,
    MixtureOfStudentT,
    Ordinal,
    Real,
    ResNetEBM,
    Tabulated,
    singular_mixture,
    stmh_two_modes,
)
from targets.checks import is_number, one_of, positive_number, whole_number, within
from tests.support.error_message import error_message
from tests.support.targets.small_tables import made_up

NAN = math.nan


@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, "two", True, None, NAN])
def test_a_whole_number_is_an_int_of_at_least_the_least(value: Any) -> None:
    assert (whole_number("n", 1), whole_number("n", 0, 0)) == (1, 0)
    said = f"n must be a whole number of at least 1, {value!r} was given"
    assert error_message(ValueError, whole_number, "n", value) == said


@pytest.mark.parametrize("value", [0, 0.0, -1.0, math.inf, NAN, "far", True, None, [1]])
def test_a_positive_number_is_finite_and_no_truth_value(value: Any) -> None:
    assert type(positive_number("x", 2)) is float
    said = f"x must be a positive number, {value!r} was given"
    assert error_message(ValueError, positive_number, "x", value) == said


def test_numbers_within_limits_and_names_among_others() -> None:
    assert [is_number(value) for value in (0, 0.5, True, "1")] == [True, True, False, False]
    assert (within("x", 0, 0, 1), within("x", 1, 0, 1)) == (0.0, 1.0)
    for value in (-0.1, 1.1, NAN, "half", True, None):
        said = f"x must be a number from 0 to 1, {value!r} was given"
        assert error_message(ValueError, within, "x", value, 0, 1) == said
    assert (one_of("k", "b", ("b", "a")), one_of("k", 4, (2, 4))) == ("b", 4)
    for wrong in ("4", 4.0, True, None):
        assert (
            error_message(ValueError, one_of, "k", wrong, (2, 4))
            == f"k must be one of 2, 4, {wrong!r} was given"
        )
    said = "k must be one of fast, slow, 'slo' was given; did you mean 'slow'?"
    assert error_message(ValueError, one_of, "k", "slo", {"slow": 1, "fast": 2}) == said


def bnn(**options: Any) -> BinaryBNN:
    return BinaryBNN(made_up(), **options)


MEANS = [[-1.0, 0.5], [1.5, 0.0], [0.0, -2.0]]
BASES: dict[Callable[..., object], dict[str, Any]] = {
    RBM: {"n_visible": 6, "n_hidden": 4},
    ResNetEBM: {"n_visible": 12, "shape": (3, 4), "width": 3, "blocks": 2, "halvings": 1},
    Tabulated: {"space": Binary(2), "log_prob": torch.zeros(4), "grad": torch.zeros(4, 2)},
    GaussianMixture: {"means": MEANS},
}
COUNT, POSITIVE = "must be a whole number of at least", "must be a positive number"
SUM, DEFINITE = "weights must be positive numbers that sum to one", "covariance must be positive definite"
SHAPE, SIDES = "covariance must be one number or 3 of them", "shape must be the height and width"
FINITE, RANGE = "log_prob must be finite or -inf", "minibatch must be a whole number from 1 to data=100,"
BAD: list[tuple[Callable[..., object], str, Any, str]] = [
    (bnn, "n_hidden", 0, f"n_hidden {COUNT} 1, 0"),
    (bnn, "scale", math.inf, f"scale {POSITIVE}, inf"),
    (RBM, "n_visible", 0, f"n_visible {COUNT} 1, 0"),
    (RBM, "n_hidden", -3, f"n_hidden {COUNT} 1, -3"),
    (RBM, "mean", torch.zeros(5), "mean must have the shape (6,), (5,)"),
    (ResNetEBM, "n_visible", 0, f"n_visible {COUNT} 1, 0"),
    (ResNetEBM, "width", 2.5, f"width {COUNT} 1, 2.5"),
    (ResNetEBM, "blocks", -1, f"blocks {COUNT} 0, -1"),
    (ResNetEBM, "halvings", True, f"halvings {COUNT} 0, True"),
    (ResNetEBM, "halvings", 3, "halvings must be at most blocks=2, 3"),
    (ResNetEBM, "shape", (4, 4), f"{SIDES} of an image of 12 pixels (n_visible), (4, 4)"),
    (ResNetEBM, "shape", (12,), SIDES),
    (ResNetEBM, "shape", (-3, -4), SIDES),
    (ResNetEBM, "shape", "3x4", SIDES),
    (ResNetEBM, "shape", None, "shape must be given where n_visible is no square number, n_visible=12"),
    (ResNetEBM, "precision", "float16", "precision must be float32 or bfloat16, 'float16'"),
    (ResNetEBM, "compile", "yes", "compile must be true or false, 'yes'"),
    (ResNetEBM, "mean", torch.zeros(11), "mean must have the shape (12,), (11,)"),
    (ResNetEBM, "mean", torch.full((12,), 1.5), "mean must be between 0 and 1"),
    (ResNetEBM, "mean", torch.full((12,), NAN), "mean must be between 0 and 1"),
    (MinibatchLogistic, "minibatch", 0, f"{RANGE} 0"),
    (MinibatchLogistic, "minibatch", 101, f"{RANGE} 101"),
    (MinibatchLogistic, "minibatch", 2.5, f"{RANGE} 2.5"),
    (MinibatchLogistic, "data", 0, f"data {COUNT} 1, 0"),
    (MinibatchLogistic, "scale", NAN, f"scale {POSITIVE}, nan"),
    (Tabulated, "log_prob", torch.zeros(3), "log_prob must have the shape (4,), (3,)"),
    (Tabulated, "grad", torch.zeros(4), "grad must have the shape (4, 2), (4,)"),
    (Tabulated, "log_prob", torch.tensor([0.0, 1.0, NAN, 0.0]), FINITE),
    (Tabulated, "log_prob", torch.tensor([0.0, 1.0, math.inf, 0.0]), FINITE),
    (Tabulated, "log_prob", torch.full((4,), -math.inf), FINITE),
    (TSP, "encoding", "bit", "encoding must be one of bits, one_hot, 'bit'"),
    (TSP, "cities", 2, f"cities {COUNT} 3, 2"),
    (TSP, "scale", "large", "scale must be a positive number or 'auto', 'large'"),
    (TSP, "file", "x.tsp", "file must be null or a TSPLIB file, 'x.tsp'"),
    (MixtureOfGaussians, "components", 7, "components must be one of 2, 4, 6, 8, 10, 12, 14, 16, 7"),
    (MixtureOfGaussians, "energy", "density", "energy must be one of log, paper, released, 'density'"),
    (MixtureOfStudentT, "components", 7, "components must be one of 2, 4, 6, 8, 10, 12, 14, 16, 7"),
    (MixtureOfStudentT, "energy", "density", "energy must be one of log, paper, released, 'density'"),
    (stmh_two_modes, "distance", -1.0, f"distance {POSITIVE}, -1.0"),
    (stmh_two_modes, "d", 0, f"d {COUNT} 1, 0"),
    (stmh_two_modes, "start", [1.0], "start must have 2 coordinates"),
    (singular_mixture, "distance", 0.0, f"distance {POSITIVE}, 0.0"),
    (singular_mixture, "epsilon", True, f"epsilon {POSITIVE}, True"),
    (singular_mixture, "d", 1.5, f"d {COUNT} 1, 1.5"),
    (GaussianMixture, "means", [1.0, 2.0], "means must be a list of points"),
    (GaussianMixture, "means", [], "means must be a list of points"),
    (GaussianMixture, "means", [[1.0], [1.0, 2.0]], "means must hold numbers in lists of equal length"),
    (GaussianMixture, "means", [["left", "right"]], "means must hold numbers"),
    (GaussianMixture, "means", [[1.0, float("inf")]], "means must hold finite numbers"),
    (GaussianMixture, "weights", [0.5, 0.5], "weights must be 3 numbers"),
    (GaussianMixture, "weights", [1.2, -0.4, 0.2], SUM),
    (GaussianMixture, "weights", [0.5, 0.5, 0.0], SUM),
    (GaussianMixture, "weights", [0.3, 0.3, 0.3], SUM),
    (GaussianMixture, "weights", [0.3, 0.3, float("nan")], "weights must hold finite numbers"),
    (GaussianMixture, "covariance", 0.0, DEFINITE),
    (GaussianMixture, "covariance", [1.0, -1.0, 1.0], DEFINITE),
    (GaussianMixture, "covariance", [1.0, 1.0], SHAPE),
    (GaussianMixture, "covariance", np.eye(3).tolist(), SHAPE),
    (GaussianMixture, "covariance", [[1.0, 2.0], [2.0, 1.0]], DEFINITE),
    (GaussianMixture, "covariance", [[1.0, 1.0], [1.0, 1.0]], DEFINITE),
    # Singular: the smaller eigenvalue is computed as 1.4e-17, and there is a Cholesky factor.
    (GaussianMixture, "covariance", [[0.2 * 0.2, 0.2 * 0.7], [0.2 * 0.7, 0.7 * 0.7]], DEFINITE),
    (GaussianMixture, "covariance", [[1.0, 0.5], [0.0, 1.0]], DEFINITE),
    (GaussianMixture, "covariance", [*[[[1, 0], [0, 1]]] * 2, [[1, 2], [2, 1]]], DEFINITE),
    (GaussianMixture, "start", [1.0, 2.0, 3.0], "start must have 2 coordinates"),
    (GaussianMixture, "start", 10.0, "start must have 2 coordinates"),
    (GaussianMixture, "start_scale", 0.0, "start_scale must be a positive number"),
    (GaussianMixture, "start_scale", "wide", "start_scale must be a positive number"),
]


@pytest.mark.parametrize(("make", "key", "value", "said"), BAD)
def test_a_bad_argument_is_refused_by_name(make: Any, key: str, value: Any, said: str) -> None:
    message = error_message(ValueError, make, **{**BASES.get(make, {}), key: value})
    assert message.startswith(said)
    assert make is not GaussianMixture or message.endswith(" was given")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Real(0), "d must be a whole number of at least 1, 0 was given"),
        (lambda: Real(1.5), "d must be a whole number of at least 1, 1.5 was given"),  # type: ignore[arg-type]
        (lambda: Binary("3"), "d must be a whole number of at least 1, '3' was given"),  # type: ignore[arg-type]
        (lambda: Ordinal(2, 1), "levels must be a whole number of at least 2, 1 was given"),
        (lambda: Ordinal(2, 2.5), "levels must be a whole number of at least 2, 2.5 was given"),  # type: ignore[arg-type]
        (lambda: MinibatchLogistic(d=2.5), "d must be a whole number of at least 1, 2.5 was given"),  # type: ignore[arg-type]
        (lambda: Binary(2, 3), "a binary space has two levels, levels=3 was given"),
        (lambda: Binary(23).states(), "8388608 states are too many to enumerate; the limit is 4194304"),
    ],
)
def test_spaces_of_a_bad_size_are_refused(make: Callable[[], object], said: str) -> None:
    assert error_message(ValueError, make) == said
