"""Random numbers from a counter: the published values of Philox, and their distributions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import kstest
from torch._inductor import compile as inductor
from torch.fx.experimental.proxy_tensor import make_fx

from samplers.compiling.counter_streams import CounterStreams, Draw, NextNumbers, key_schedule, philox
from targets.randomness import normal, uniform

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
ONES = 0xFFFFFFFF
PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)


@pytest.mark.parametrize(
    ("keys", "counters", "expected"),
    [
        ((0, 0), (0, 0, 0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((ONES, ONES), (ONES, ONES, ONES, ONES), "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ((0xA4093822, 0x299F31D0), PI, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
    ids=["zeros", "ones", "pi"],
)
def test_philox_gives_the_known_answers(
    keys: tuple[int, int], counters: tuple[int, int, int, int], expected: str
) -> None:
    """Those of the authors' library Random123 (``kat_vectors``, philox4x32 with 10 rounds)."""
    own = key_schedule([keys[0] + (keys[1] << 32)])
    words = philox(own, [torch.tensor([each]) for each in counters])
    assert " ".join(f"{int(word):08x}" for word in words) == expected


def test_philox_is_what_it_is_in_whole_numbers_without_bounds() -> None:
    """On 1,000 random counters, with Python's integers, which cannot overflow."""
    drawn = np.random.default_rng(0).integers(0, 2**32, (6, 1000))
    keys = key_schedule([int(one) + (int(two) << 32) for one, two in zip(*drawn[:2], strict=True)])
    found = philox(keys.squeeze(-1), list(torch.from_numpy(drawn[2:])))
    for place in range(1000):
        first, second, a, b, c, d = map(int, drawn[:, place])
        for _ in range(10):
            high, other = a * 0xD2511F53, c * 0xCD9E8D57
            a, b, c, d = other >> 32 ^ b ^ first, other & ONES, high >> 32 ^ d ^ second, high & ONES
            first, second = (first + 0x9E3779B9) & ONES, (second + 0xBB67AE85) & ONES
        assert [int(word[place]) for word in found] == [a, b, c, d]


@DTYPES
@pytest.mark.parametrize("event", [(), (3,), (1001,)], ids=str)
def test_the_next_numbers_are_those_that_are_drawn(dtype: torch.dtype, event: tuple[int, ...]) -> None:
    """And no number is drawn twice."""
    streams, like = CounterStreams([4, 7], "chain"), torch.empty(0, dtype=dtype)
    uniform(streams, (2, 5), like=like)
    ahead = NextNumbers(streams)
    coming = [draw(ahead, (3, 2, 5), event, like=like) for draw in (uniform, normal, uniform)]
    assert int(streams.calls) == 1
    assert ahead.used == 3
    for draw, expected in zip((uniform, normal, uniform), coming, strict=True):
        assert torch.equal(draw(streams, (3, 2, 5), event, like=like), expected)
    if dtype == torch.float64:
        numbers = torch.cat([each.flatten() for each in coming])
        assert numbers.unique().numel() == numbers.numel()


def test_the_numbers_of_several_draws_come_from_one_call_of_each_kind() -> None:
    """They do not depend on the other seeds either, and are all different."""
    shapes = [((2, 5), (3,), None), ((4, 2, 5), (), 0.5), ((2, 1), (7,), None), ((2, 5), (), 2.0)]
    draws = [Draw(batch, event, torch.float64, std) for batch, event, std in shapes]
    alone = [Draw((*batch[:-2], 1, batch[-1]), event, torch.float64, std) for batch, event, std in shapes]
    streams = CounterStreams([8, 3], "chain")
    found = streams.numbers(draws)
    assert int(streams.calls) == 2
    for place, seed in enumerate([8, 3]):
        own = CounterStreams([seed], "chain").numbers(alone)
        for each, numbers, draw in zip(own, found, draws, strict=True):
            assert numbers.shape == (*draw.batch, *draw.event)
            seeds = len(draw.batch) - 2
            assert torch.equal(each.squeeze(seeds), numbers.select(seeds, place))
    every = torch.cat([numbers.flatten() for numbers in found])
    assert every.unique().numel() == every.numel()


def test_the_call_is_counted_beyond_32_bits() -> None:
    streams = CounterStreams([0], "chain")
    found = []
    for calls in (1, 1 + 2**32, 1 + 2**33):
        streams.calls.fill_(calls)
        found.append(uniform(streams, (1, 50), like=torch.empty(0, dtype=torch.float64)))
    assert torch.cat(found).unique().numel() == 150


@DTYPES
def test_the_numbers_have_their_distributions(dtype: torch.dtype) -> None:
    """Kolmogorov's test on 4e5 numbers from 40 calls each: false alarm 4e-6 in all."""
    streams, like = CounterStreams([3, 4], "chain"), torch.empty(0, dtype=dtype)
    for draw, name in ((uniform, "uniform"), (normal, "norm")):
        numbers = torch.stack([draw(streams, (2, 100), (50,), like=like) for _ in range(40)])
        assert kstest(numbers.double().flatten().numpy(), name).pvalue > 1e-6
        if draw is normal:
            assert numbers.abs().max() > 4.0
            scaled = streams.normal((2, 100), (5000,), dtype, std=0.25)
            assert abs(float(scaled.double().std()) / 0.25 - 1) < 6 / (2 * scaled.numel()) ** 0.5


def test_neighbouring_numbers_calls_and_seeds_are_uncorrelated() -> None:
    """Correlations of 1e6 pairs within 5.5 standard errors: false alarm below 4 x 4e-8."""
    streams = CounterStreams([0, 1], "chain")
    one, other = (uniform(streams, (2, 1000), (1000,), like=torch.empty(0)).double() - 0.5 for _ in range(2))
    pairs = [
        (one[0], one[1]),
        (one[0], other[0]),
        (one[0].flatten()[1:], one[0].flatten()[:-1]),
        (one[0].flatten()[250_000:], one[0].flatten()[:-250_000]),  # words of the same block
    ]
    for first, second in pairs:
        correlation = float((first * second).mean()) * 12
        assert abs(correlation) < 5.5 / first.numel() ** 0.5


@pytest.mark.slow
@DTYPES
def test_compiled_uniform_numbers_are_the_same_bits(dtype: torch.dtype) -> None:
    streams, like = CounterStreams([2, 9], "chain"), torch.empty(0, dtype=dtype)

    def drawn(calls: torch.Tensor) -> torch.Tensor:
        streams.calls = calls
        return uniform(NextNumbers(streams), (2, 101), (7,), like=like)

    given = [torch.tensor(2**32 + 5)]
    compiled = inductor(make_fx(drawn)(*given), given)
    assert torch.equal(compiled(*given), drawn(*given))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_one_number_without_axes(dtype: torch.dtype) -> None:
    streams = CounterStreams([0], "chain")
    assert streams.uniform((), (), dtype).shape == streams.normal((), (), dtype).shape == ()
