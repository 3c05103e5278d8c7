from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from targets.datasets.binarise import BINARISATIONS, BLOCK, binariser
from targets.datasets.dataset import DataError
from tests.support.error_message import error_message
from tests.support.targets.small_images import grey, published_draw

RAMP = np.arange(256, dtype=np.uint8).reshape(4, 8, 8)


@pytest.mark.parametrize("white", [16, 255])
@pytest.mark.parametrize("threshold", [0, 0.1, 0.25, 0.5, 0.9, 1])
def test_a_threshold_keeps_the_pixels_that_are_brighter(white: int, threshold: float) -> None:
    images = RAMP.flatten()[: white + 1].reshape(-1, 1, 1)
    binary = binariser("ramp", "threshold", threshold, 0)(images, white, "training")
    assert binary.dtype == torch.uint8
    assert binary.flatten().tolist() == [int(grey / white > threshold) for grey in range(white + 1)]


def test_images_are_flattened_row_by_row_and_an_empty_part_stays_empty() -> None:
    images = np.zeros((1, 2, 3), dtype=np.uint8)
    images[0, 1, 0] = 255
    assert binariser("one", "threshold", 0.5, 0)(images, 255, "training").tolist() == [[0, 0, 0, 1, 0, 0]]
    for way in BINARISATIONS:
        assert binariser("none", way, 0.5, 0)(np.zeros((0, 28, 28), np.uint8), 255, "test").shape == (0, 784)


def test_a_draw_has_the_grey_values_as_means_and_black_and_white_are_certain() -> None:
    """5,000 draws of 256 greys; 6 standard deviations fail by chance below 1e-6 of the time (256 x 2e-9)."""
    images = np.tile(RAMP.reshape(1, 256), (5000, 1))
    before = torch.get_rng_state()
    drawn = binariser("ramp", "stochastic", 0.5, 3)(images, 255, "training")
    assert torch.equal(torch.get_rng_state(), before)
    p = torch.arange(256, dtype=torch.float64) / 255
    assert ((drawn.double().mean(0) - p).abs() <= 6 * (p * (1 - p) / 5000).sqrt()).all()
    # Neither the images of one block nor those of two share their numbers.
    assert len(images) > BLOCK
    assert not torch.equal(drawn[: 5000 - BLOCK], drawn[BLOCK:])


def test_a_draw_depends_on_seed_and_part_alone() -> None:
    images = np.full((20, 8, 8), 100, dtype=np.uint8)
    draws = [
        binariser("grey", "stochastic", 0.5, seed)(images, 255, part)
        for seed, part in itertools.product((0, 1), ("training", "test"))
    ]
    assert torch.equal(draws[3], binariser("grey", "stochastic", 0.5, 1)(images, 255, "test"))
    for one, other in itertools.combinations(draws, 2):
        assert not torch.equal(one, other)


def test_dynamic_held_out_images_are_drawn_as_in_the_papers_code_over_several_blocks() -> None:
    validation, test = grey(BLOCK + 7, 3), grey(5, 4)
    binarise = binariser("mine", "dynamic", 0.5, 777)
    binarise(grey(9), 255, "training")
    found = [binarise(part, 255, name) for part, name in ((validation, "validation"), (test, "test"))]
    assert all(map(torch.equal, found, published_draw(validation, test)))


def test_binary_images_are_taken_as_they_are_and_grey_ones_are_refused() -> None:
    binarise = binariser("mine", "binary", 0.5, 0)
    assert binarise(np.array([[[0, 255]]], np.uint8), 255, "training").tolist() == [[0, 1]]
    assert binarise(np.array([[[1, 0]]], np.uint8), 1, "training").tolist() == [[1, 0]]
    said = error_message(DataError, binarise, np.array([[[0, 254]]], np.uint8), 255, "test")
    assert said.startswith("mine is not binary: its test images hold grey values")


@pytest.mark.parametrize(
    ("binarisation", "threshold", "seed", "said"),
    [
        ("grey", 0.5, 0, "binarisation must be one of binary, dynamic, stochastic, threshold, 'grey'"),
        ("threshold", 1.5, 0, "threshold must be a number from 0 to 1, 1.5"),
        ("threshold", math.nan, 0, "threshold must be a number from 0 to 1, nan"),
        ("threshold", "half", 0, "threshold must be a number from 0 to 1, 'half'"),
        ("stochastic", 0.5, -1, "seed must be a whole number of at least 0, -1"),
        ("stochastic", 0.5, 1.0, "seed must be a whole number of at least 0, 1.0"),
        ("dynamic", 0.5, 2**32, "seed must be at most 4294967295 where binarisation is dynamic, 4294967296"),
    ],
)
def test_bad_arguments_are_refused(binarisation: str, threshold: Any, seed: Any, said: str) -> None:
    assert error_message(DataError, binariser, "mine", binarisation, threshold, seed) == f"{said} was given"
