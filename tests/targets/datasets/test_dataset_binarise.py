from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from targets.datasets.binarise import BINARISATIONS, BLOCK, binariser
from targets.datasets.dataset import DataError

RAMP = np.arange(256, dtype=np.uint8).reshape(4, 8, 8)


@pytest.mark.parametrize(
    ("white", "threshold"), list(itertools.product((16, 255), (0, 0.1, 0.25, 0.5, 0.9, 1)))
)
def test_a_threshold_asks_of_every_pixel_whether_it_is_brighter(white: int, threshold: float) -> None:
    images = RAMP.flatten()[: white + 1].reshape(-1, 1, 1)
    binary = binariser("ramp", "threshold", threshold, 0)(images, white, "training")
    assert binary.dtype == torch.uint8
    assert binary.flatten().tolist() == [int(grey / white > threshold) for grey in range(white + 1)]


def test_images_are_flattened_row_by_row() -> None:
    images = np.zeros((1, 2, 3), dtype=np.uint8)
    images[0, 1, 0] = 255
    assert binariser("one", "threshold", 0.5, 0)(images, 255, "training").tolist() == [[0, 0, 0, 1, 0, 0]]


def test_a_part_without_images_stays_one() -> None:
    for binarisation in BINARISATIONS:
        nothing = binariser("none", binarisation, 0.5, 0)(np.zeros((0, 28, 28), np.uint8), 255, "validation")
        assert nothing.shape == (0, 784)


def test_a_draw_has_the_grey_values_as_means_and_never_misses_black_and_white() -> None:
    """5,000 draws of 256 greys; 6 standard deviations fail by chance below 1e-6 of the time (256 x 2e-9)."""
    images = np.tile(RAMP.reshape(1, 256), (5000, 1))
    drawn = binariser("ramp", "stochastic", 0.5, 3)(images, 255, "training")
    mean = drawn.double().mean(0)
    for grey in range(256):
        p = grey / 255
        assert abs(mean[grey].item() - p) <= 6 * math.sqrt(p * (1 - p) / 5000)
    # Neither the images of one block nor those of two share their numbers.
    assert len(images) > BLOCK
    assert not torch.equal(drawn[: 5000 - BLOCK], drawn[BLOCK:])


def test_a_draw_is_the_same_in_every_load_and_another_for_every_seed_and_part() -> None:
    images = np.full((20, 8, 8), 100, dtype=np.uint8)
    draws = {
        (seed, part): binariser("grey", "stochastic", 0.5, seed)(images, 255, part)
        for seed, part in itertools.product((0, 1), ("training", "test"))
    }
    again = binariser("grey", "stochastic", 0.5, 1)(images, 255, "test")
    assert torch.equal(draws[1, "test"], again)
    for one, other in itertools.combinations(draws.values(), 2):
        assert not torch.equal(one, other)


def test_the_global_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    binariser("ramp", "stochastic", 0.5, 0)(RAMP, 255, "training")
    assert torch.equal(torch.get_rng_state(), before)


def test_what_is_binary_is_taken_as_it_is_and_what_is_not_is_refused() -> None:
    binarise = binariser("mine", "binary", 0.5, 0)
    assert binarise(np.array([[[0, 255]]], np.uint8), 255, "training").tolist() == [[0, 1]]
    assert binarise(np.array([[[1, 0]]], np.uint8), 1, "training").tolist() == [[1, 0]]
    with pytest.raises(DataError, match="mine is not binary: its test images hold grey values"):
        binarise(np.array([[[0, 254]]], np.uint8), 255, "test")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("grey", 0.5, 0),
            "binarisation must be one of threshold, stochastic, dynamic, binary, 'grey' was given",
        ),
        (("threshold", 1.5, 0), "threshold must be a number from 0 to 1, 1.5 was given"),
        (("threshold", math.nan, 0), "threshold must be a number from 0 to 1, nan was given"),
        (("threshold", "half", 0), "threshold must be a number from 0 to 1, 'half' was given"),
        (("stochastic", 0.5, -1), "seed must be a whole number of at least 0, -1 was given"),
        (("stochastic", 0.5, 1.0), "seed must be a whole number of at least 0, 1.0 was given"),
        (
            ("dynamic", 0.5, 2**32),
            "seed must be at most 4294967295 where binarisation is dynamic, 4294967296 was given",
        ),
    ],
)
def test_an_argument_that_is_not_allowed_is_refused(arguments: tuple[Any, Any, Any], sentence: str) -> None:
    with pytest.raises(DataError) as refusal:
        binariser("mine", *arguments)
    assert str(refusal.value) == sentence
