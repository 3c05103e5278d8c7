from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from metrics.library.thread_count import thread_count
from samplers.compiling.counter_streams import CounterStreams
from targets.randomness import LONG_ROW, Generator, Streams, derive_seed, normal, uniform
from targets.seeds import SEEDED_BY_A_WORD

SEEDS = [3, 0, 11]
LIKE = torch.empty(0, dtype=torch.float64)
Draw = Callable[..., Tensor]
both = pytest.mark.parametrize("draw", [uniform, normal])
KINDS: list[type[Streams]] = [Streams, CounterStreams]
of_both_kinds = pytest.mark.parametrize("kind", KINDS)


def two_rounds(draw: Draw, generator: Generator, seeds: int, leading: tuple[int, ...]) -> Tensor:
    """Two draws in a row with an event axis, stacked in front: the second must continue the first."""
    batch = (*leading, seeds, 5)
    return torch.stack([draw(generator, batch, (2,), like=LIKE), draw(generator, batch, (2,), like=LIKE)])


@both
@of_both_kinds
@pytest.mark.parametrize("leading", [(), (4,), (4, 2)], ids=str)
def test_the_numbers_of_a_seed_do_not_depend_on_the_batch(
    draw: Draw, kind: type[Streams], leading: tuple[int, ...]
) -> None:
    together = two_rounds(draw, kind(SEEDS, "chain"), 3, leading)
    assert together.shape == (2, *leading, 3, 5, 2)
    seed_axis = 1 + len(leading)
    backwards = two_rounds(draw, kind(SEEDS[::-1], "chain"), 3, leading)
    assert torch.equal(backwards.flip(seed_axis), together)
    for place, seed in enumerate(SEEDS):
        alone = two_rounds(draw, kind([seed], "chain"), 1, leading)
        assert torch.equal(alone.squeeze(seed_axis), together.select(seed_axis, place))


@both
@of_both_kinds
def test_different_seeds_purposes_and_rounds_draw_different_numbers(draw: Draw, kind: type[Streams]) -> None:
    first = two_rounds(draw, kind([0, 1], "chain"), 2, ())
    other = two_rounds(draw, kind([0, 1], "start"), 2, ())
    numbers = torch.cat([first.flatten(), other.flatten()])
    assert numbers.unique().numel() == numbers.numel()


@of_both_kinds
def test_streams_of_different_purposes_are_uncorrelated(kind: type[Streams]) -> None:
    """Correlations of 1e5 normal pairs within 5.5 standard errors: false alarm below 3 x 4e-8."""
    purposes = ["chain", "start", "reference"]
    rows = torch.stack(
        [normal(kind([7], purpose), (1, 100_000), like=LIKE).flatten() for purpose in purposes]
    )
    correlations = torch.corrcoef(rows)[~torch.eye(3, dtype=torch.bool)]
    assert correlations.abs().max() < 5.5 / 1e5**0.5


@of_both_kinds
def test_streams_continue_from_a_saved_state(kind: type[Streams]) -> None:
    streams = kind(SEEDS, "chain")
    uniform(streams, (3, 4), like=LIKE)
    saved = streams.state_dict()
    expected = [uniform(streams, (2, 3, 4), like=LIKE), normal(streams, (3, 4), (5,), like=LIKE)]
    for continued in (streams, kind([100, 101, 102], "start")):
        continued.load_state_dict(saved)
        assert torch.equal(uniform(continued, (2, 3, 4), like=LIKE), expected[0])
        assert torch.equal(normal(continued, (3, 4), (5,), like=LIKE), expected[1])


@both
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_have_the_given_dtype_from_every_kind_of_generator(draw: Draw, dtype: torch.dtype) -> None:
    like = torch.empty(0, dtype=dtype)
    for generator in (
        Streams([1, 2], "chain"),
        CounterStreams([1, 2], "chain"),
        torch.Generator().manual_seed(0),
    ):
        numbers = draw(generator, (3, 2, 4), (6,), like=like)
        assert numbers.dtype == dtype
        assert numbers.shape == (3, 2, 4, 6)


@of_both_kinds
def test_uniform_numbers_lie_in_the_half_open_unit_interval(kind: type[Streams]) -> None:
    """The mean of 1e6 numbers within 6 standard errors: false alarm below 1e-8."""
    numbers = uniform(kind([5], "chain"), (1, 1_000_000), like=torch.empty(0))
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert abs(numbers.double().mean().item() - 0.5) < 6 * (1 / 12e6) ** 0.5


@pytest.mark.parametrize("draw", [uniform, normal])
def test_threads_draw_the_numbers_of_one(draw: Callable[..., Tensor]) -> None:
    """Each seed on a thread of its own where several are allowed, in inference mode on one."""
    batch, event = (3, 4), (LONG_ROW // 4,)
    found, names = [], []
    like = torch.empty(0)
    for threads in (1, 2):
        with thread_count(threads), pytest.MonkeyPatch.context() as patched:
            note = partial(_named, names, Tensor.uniform_)
            patched.setattr(Tensor, "uniform_", note)
            streams = Streams([4, 5, 6], "any")
            found.append([draw(streams, batch, event, like=like) for _ in range(2)])
            with torch.inference_mode():
                found[-1].append(draw(streams, batch, event, like=like))
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)
    assert draw is normal or len(set(names)) > 1


def _named(names: list[str], fill: Callable[..., Tensor], *given: object, **named: object) -> Tensor:
    names.append(threading.current_thread().name)
    return fill(*given, **named)


def test_the_global_generator_is_not_used() -> None:
    before = torch.get_rng_state()
    for generator in (
        Streams(SEEDS, "chain"),
        CounterStreams(SEEDS, "chain"),
        torch.Generator().manual_seed(0),
    ):
        uniform(generator, (3, 4), like=LIKE)
        normal(generator, (3, 4), like=LIKE)
    assert torch.equal(torch.get_rng_state(), before)


def test_derived_seeds_never_change() -> None:
    """Recorded runs can be repeated only as long as these two numbers stay."""
    assert derive_seed(0, "chain") == 5688424714863841901
    assert derive_seed(3, "start") == 58307301648195376
    assert len({derive_seed(seed, purpose) for seed in range(100) for purpose in ("chain", "start")}) == 200


@of_both_kinds
def test_a_batch_with_another_number_of_seeds_is_refused(kind: type[Streams]) -> None:
    with pytest.raises(ValueError, match=r"streams of 3 seeds ends in the axes .*; \(2, 5\) was given"):
        uniform(kind(SEEDS, "chain"), (2, 5), like=LIKE)


PURPOSES = ["chain", "start", "weights", "order/0", "training chains", "training start", "training order 0"]
PURPOSES += ["training images", "replay buffer", "ais/forward", "ais/reverse", "bootstrap", "tuning"]
PURPOSES += ["ground truth", "ground truth/images", "ground truth/permutations"]


def test_the_streams_of_small_seeds_are_all_different() -> None:
    words = {derive_seed(seed, purpose) % 2**32 for seed in range(SEEDED_BY_A_WORD) for purpose in PURPOSES}
    assert len(words) == SEEDED_BY_A_WORD * len(PURPOSES)


def test_streams_differ_where_the_low_words_of_their_hashes_agree() -> None:
    """Two seeds, found by trying, whose 63-bit numbers for "chain" end in the same 32 bits."""
    one, other = 23_083, 121_785
    assert (derive_seed(one, "chain") - derive_seed(other, "chain")) % 2**32 == 0
    drawn = uniform(Streams([one, other], "chain"), (2, 4), like=LIKE)
    assert not torch.equal(drawn[0], drawn[1])


def test_a_small_seed_draws_what_torch_draws_from_the_derived_seed() -> None:
    """Recorded runs can be repeated only as long as this stays."""
    alone = torch.Generator().manual_seed(derive_seed(SEEDED_BY_A_WORD - 1, "chain"))
    drawn = uniform(Streams([SEEDED_BY_A_WORD - 1], "chain"), (1, 1000), like=LIKE)
    assert torch.equal(drawn[0], uniform(alone, (1000,), like=LIKE))


def test_a_large_seed_draws_what_the_mersenne_twister_draws_from_a_hash_as_its_state() -> None:
    """NumPy's twister is the reference; float32 takes the low 24 bits of each of its words."""
    twister = np.random.MT19937()
    words = np.frombuffer(hashlib.shake_256(b"4096/chain").digest(4 * 624), "<u4")
    twister.state = {"bit_generator": "MT19937", "state": {"key": words, "pos": 624}}
    expected = (twister.random_raw(2000) % 2**24) / 2**24
    assert SEEDED_BY_A_WORD == 4096
    drawn = uniform(Streams([4096], "chain"), (1, 2000), like=torch.empty(0))
    assert torch.equal(drawn[0].double(), torch.from_numpy(expected))
