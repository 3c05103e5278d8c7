"""The batches of a training: static ones row by row, dynamic ones drawn anew."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from runner.models.training.batches import Batches
from targets.randomness import Streams
from tests.support.steps.no_host_sync import NoHostSync

IMAGES, PIXELS = 10, 6
GREY = torch.tensor([0, 1, 5, 8, 12, 16], dtype=torch.uint8).repeat(IMAGES, 1)
GREY[IMAGES // 2 :] = GREY[IMAGES // 2 :].flip(1)
FIXED = (GREY > 8).to(torch.uint8)


def dynamic(size: int = 4, seed: int = 3, grey: torch.Tensor = GREY) -> Batches:
    return Batches(FIXED, size, seed, torch.float64, grey, 16)


def test_a_static_batch_is_rows_of_the_images_in_the_order_of_the_epoch() -> None:
    """Bit for bit as before there were dynamic sets: the order is the epoch's uniform numbers sorted."""
    data = torch.arange(IMAGES * 2, dtype=torch.uint8).reshape(IMAGES, 2)
    batches = Batches(data, 3, 7, torch.float32)
    for iteration in (0, 1, 2, 3, 5, 4, 11):
        epoch, place = divmod(iteration, 3)
        draws = Streams([7], f"training order {epoch}").uniform((1, IMAGES), (), torch.float64)[0]
        order = sorted(range(IMAGES), key=draws.tolist().__getitem__)
        wanted = data[order[3 * place : 3 * place + 3]].float()
        assert torch.equal(batches.at(iteration), wanted)
        assert torch.equal(Batches(data, 3, 7, torch.float32).at(iteration), wanted)


def test_a_dynamic_batch_holds_the_images_of_the_static_one() -> None:
    """Black stays 0 and white 1, so grey values of 0 and `white` alone give the static batches."""
    data = FIXED
    static = Batches(data, 4, 3, torch.float64)
    drawn = Batches(1 - data, 4, 3, torch.float64, 16 * data, 16)
    for iteration in range(7):
        batch = drawn.at(iteration)
        assert batch.dtype == torch.float64
        assert torch.equal(batch, static.at(iteration))


def test_dynamic_batches_have_the_grey_values_as_means() -> None:
    """2,000 independent draws of each pixel of two images; 6 standard deviations fail by chance below
    1e-6 of the time: exact binomial tails of 12 such means."""
    grey, epochs = GREY[[0, IMAGES // 2]], 2000
    batches = Batches(torch.zeros_like(grey), 2, 5, torch.float64, grey, 16)
    found = torch.zeros(2, PIXELS, dtype=torch.float64)
    for epoch in range(epochs):
        batch = batches.at(epoch)
        # The first image begins black and ends white, the second the reverse.
        found += batch[batch[:, -1].argsort(descending=True)]
    for drawn, p in zip(found.flatten().tolist(), (grey.double() / 16).flatten().tolist(), strict=True):
        assert abs(drawn / epochs - p) <= 6 * math.sqrt(p * (1 - p) / epochs)


def test_every_iteration_and_every_seed_draws_anew() -> None:
    grey = torch.full((8, 40), 8, dtype=torch.uint8)
    data = torch.zeros_like(grey)
    one, other = (Batches(data, 4, seed, torch.float64, grey, 16) for seed in (0, 1))
    # Two batches of one epoch, one of the next, one of another seed.
    for first, second in itertools.combinations([one.at(0), one.at(1), one.at(2), other.at(0)], 2):
        # 160 fair coins are all the same with probability 2^-160.
        assert (first != second).any(1).all()


def test_a_batch_is_known_from_the_iteration_alone() -> None:
    """What a training that goes on from a checkpoint needs: no state but the number of the iteration."""
    whole, backwards = dynamic(), dynamic()
    wanted = [whole.at(iteration) for iteration in range(9)]
    for iteration in reversed(range(9)):
        assert torch.equal(backwards.at(iteration), wanted[iteration])


def test_events_keep_their_shape_and_nothing_asks_the_device_for_a_value() -> None:
    grey = GREY.reshape(IMAGES, 2, 3)
    batches = Batches(torch.zeros_like(grey), 4, 0, torch.float32, grey, 16)
    before = torch.get_rng_state()
    with NoHostSync():
        batch = batches.at(0)
    assert torch.equal(torch.get_rng_state(), before), "the global generator was used"
    assert batch.shape == (4, 2, 3)
    assert set(batch.flatten().tolist()) <= {0.0, 1.0}


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"grey must have the shape of .* \(10, 6\), \(9, 6\) was given"):
        dynamic(grey=GREY[1:])
    with pytest.raises(ValueError, match="white must be at least 1, 0 was given"):
        Batches(FIXED, 4, 0, torch.float64, GREY, 0)
