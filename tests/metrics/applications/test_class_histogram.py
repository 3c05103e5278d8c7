"""The classes of images: their shares, the LeNet-5 that assigns them, their labels, and the stored draws."""

from __future__ import annotations

import math
import struct
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor

from metrics.applications.image_classes import LeNet5, class_entropy, class_shares, classes_seen
from metrics.enumeration.transition_matrix import total_variation
from metrics.statistics.thinned_draws import ThinnedDraws
from metrics.suite import MetricSuite
from targets.datasets.dataset import DataError
from targets.datasets.digits import digit_labels
from targets.datasets.files.idx import read_labels
from targets.models.rbm import RBM
from tests.support.measuring import context, silent
from tests.support.targets.small_images import assert_no_wrong_byte_does_worse_than_a_refusal


def test_shares_and_their_distance_are_what_counting_gives() -> None:
    generator = torch.Generator().manual_seed(0)
    one, other = (torch.randint(0, 5, (200,), generator=generator) for _ in range(2))
    shares, others = class_shares(one, 7), class_shares(other, 7)
    counts, counted = Counter(one.tolist()), Counter(other.tolist())
    assert shares.tolist() == [counts[place] / 200 for place in range(7)]
    expected = sum(abs(counts[place] - counted[place]) for place in range(7)) / 400
    assert total_variation(shares, others) == pytest.approx(expected, rel=1e-12)
    found = -sum(n / 200 * math.log(n / 200) for n in counts.values())
    assert class_entropy(shares) == pytest.approx(found, rel=1e-12)
    assert classes_seen(shares) == 5


def test_the_measures_of_even_and_of_single_classes() -> None:
    even, one = torch.full((10,), 0.1, dtype=torch.float64), torch.eye(10, dtype=torch.float64)[3]
    assert class_entropy(even) == pytest.approx(math.log(10))
    assert (class_entropy(one), classes_seen(one), classes_seen(even)) == (0.0, 1, 10)
    assert total_variation(even, one) == pytest.approx(0.9)
    assert classes_seen(torch.tensor([0.991, 0.009], dtype=torch.float64)) == 1
    assert classes_seen(torch.tensor([0.99, 0.01], dtype=torch.float64)) == 2


def test_lenet5_is_the_network_of_1998() -> None:
    network = LeNet5(10)
    assert sum(parameter.numel() for parameter in network.parameters()) == 61_706
    assert network(torch.rand(3, 28, 28)).shape == (3, 10)
    small = torch.rand(2, 14, 14)
    large = small.repeat_interleave(2, -1).repeat_interleave(2, -2)
    torch.testing.assert_close(network(small), network(large))


def thinned() -> MetricSuite:
    every_fifth = partial(ThinnedDraws, most=7, burn_in=4, steps=39)
    return MetricSuite(context(RBM(13, 2).float(), 2, 3), {"thinned_draws": every_fifth})


def images_in(suite: MetricSuite, place: int) -> Tensor:
    draws = suite.metrics["thinned_draws"]
    assert isinstance(draws, ThinnedDraws)
    return draws.images(place)


def test_stored_draws_are_those_of_every_fifth_step() -> None:
    draws = (torch.rand(40, 2, 3, 13, generator=torch.Generator().manual_seed(0)) < 0.5).float()
    whole, first, second, again = (thinned() for _ in range(4))
    for step in range(5, 41):
        for suite in (whole, first if step < 21 else second):
            suite.update(step, draws[step - 1], silent(2, 3))
    again.load_state_dict(first.state_dict())
    first.merge(second)
    for step in range(21, 41):
        again.update(step, draws[step - 1], silent(2, 3))
    expected = draws[[8, 13, 18, 23, 28, 33, 38]].to(torch.uint8)
    assert whole.result() == {}
    for suite in (whole, first, again):
        for place in range(2):
            assert torch.equal(images_in(suite, place), expected[:, place].flatten(0, 1))


def test_labels_are_read_and_damaged_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels-idx1-ubyte"
    path.write_bytes(struct.pack(">2I", 0x801, 20) + bytes(range(20)))
    assert read_labels(path).tolist() == list(range(20))
    assert_no_wrong_byte_does_worse_than_a_refusal(path, lambda: read_labels(path))
    whole = path.read_bytes()
    for content, sentence in (
        (whole[:5], "is truncated: 5 bytes"),
        (whole[:-1], "20 labels and a header need 28 bytes, it has 27"),
        (struct.pack(">2I", 0x803, 20) + whole[8:], "its magic number is 0x00000803 instead of 0x00000801"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=sentence):
            read_labels(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_labels(tmp_path / "nowhere")


def test_the_labels_of_the_small_digits_are_those_of_their_split() -> None:
    load_digits = pytest.importorskip("sklearn.datasets").load_digits
    train, test = digit_labels()
    target = load_digits().target
    assert (len(train), len(test)) == (1285, 256)
    assert test.tolist() == target[6::7].tolist()
    assert train[:6].tolist() == [*target[:5], target[7]]
