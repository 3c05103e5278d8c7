"""Random numbers from a counter: each is a function of its seed, its call and its place in it.

A generator gives one number after the other, seed by seed. Here all numbers of all seeds are a few tensor
operations, which a compiled step computes in its own loops.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from targets.compiling.tracing import stored
from targets.randomness import Streams, check_batch, derive_seed

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10

WORD = 0xFFFFFFFF
"""The bits of a word of 32, which stands in an integer of 64."""


def key_schedule(numbers: Sequence[int]) -> Tensor:
    """Two words for each round and each number of 64 bits, ``(2 * rounds, numbers, 1)``, int64."""
    return torch.tensor(
        [
            [[((number >> 32 * word) + place * KEY_STEPS[word]) & WORD] for number in numbers]
            for place in range(ROUNDS)
            for word in (0, 1)
        ]
    )


def philox(keys: Tensor, counters: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Philox 4x32-10: four words for each counter, ``(*batch)`` each, int64 in [0, 2^32).

    Args:
        keys: of `key_schedule`; those of a round are broadcast against the counters.
        counters: four words, broadcast against each other.

    Source: Salmon et al. (2011), section 3.3.
    """
    a, b, c, d = counters
    words = iter(keys.unbind())
    for first, second in zip(words, words, strict=True):
        # The factors less 2^32 lie between -2^31 and 0, so that no product overflows 64 bits; its high word
        # lacks the other factor then. Of b and d only the low words count.
        of_a, of_c = a * (MULTIPLIERS[0] - WORD - 1), c * (MULTIPLIERS[1] - WORD - 1)
        a, c = ((of_c >> 32) + c ^ b ^ first) & WORD, ((of_a >> 32) + a ^ d ^ second) & WORD
        b, d = of_c, of_a
    return a, b & WORD, c, d & WORD


@dataclass(frozen=True)
class Draw:
    """Numbers ``(*batch, *event)``: uniform on [0, 1), or normal with a standard deviation `std`."""

    batch: tuple[int, ...]
    event: tuple[int, ...]
    dtype: torch.dtype
    std: float | None = None

    @property
    def size(self) -> int:
        """How many numbers, those of all seeds."""
        return math.prod(self.batch) * math.prod(self.event)

    @property
    def kind(self) -> tuple[torch.dtype, bool]:
        """Whose numbers come from the same call: dtype, and whether they are normal."""
        return self.dtype, self.std is not None


class CounterStreams(Streams):
    """`Streams` whose numbers come from a counter.

    The numbers of a seed do not depend on the others in the batch. Those of compiled operations are the same,
    normal ones up to rounding. The probability that two of n streams are the same is n^2 / 2^64.

    Attributes:
        keys: of `key_schedule`, ``(2 * rounds, seeds, 1)``.
        calls: how often numbers were drawn, int64; changed in place.
    """

    for_compiled_steps = True

    def __init__(self, seeds: Sequence[int], purpose: str, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self.keys = key_schedule([derive_seed(seed, purpose) for seed in seeds]).to(self.device)
        self.calls = torch.zeros((), dtype=torch.int64, device=self.device)

    def state_dict(self) -> dict[str, list[Tensor]]:
        return {"keys": [self.keys], "calls": [self.calls.clone()]}

    def load_state_dict(self, state: dict[str, list[Tensor]]) -> None:
        self.keys.copy_(state["keys"][0])
        self.calls.copy_(state["calls"][0])

    @contextmanager
    def unused(self) -> Iterator[None]:
        """Leaves the random numbers that are used in the block for later."""
        before = self.calls.clone()
        try:
            yield
        finally:
            self.calls.copy_(before)

    def uniform(self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype) -> Tensor:
        return self.numbers([Draw(tuple(batch), tuple(event), dtype)])[0]

    def normal(
        self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype, std: float = 1.0
    ) -> Tensor:
        return self.numbers([Draw(tuple(batch), tuple(event), dtype, std)])[0]

    def numbers(self, draws: Sequence[Draw]) -> list[Tensor]:
        """Those of several draws, with one call for all uniform and one for all normal numbers of a dtype.

        They are other numbers than those of a call for each draw.

        Raises:
            ValueError: for a batch that does not end in the axes (seeds, chains).
        """
        seeds = self.keys.shape[1]
        found: dict[int, Tensor] = {}
        for kind in dict.fromkeys(draw.kind for draw in draws):
            own = [place for place, draw in enumerate(draws) if draw.kind == kind]
            sizes = [draws[place].size // seeds for place in own]
            rows = torch.split(self._rows(*kind, sum(sizes)), sizes, dim=1)
            found |= {place: _shaped(row, draws[place]) for place, row in zip(own, rows, strict=True)}
        return [found[place] for place in range(len(draws))]

    def _rows(self, dtype: torch.dtype, normal: bool, number: int) -> Tensor:
        """So many numbers for each seed, ``(seeds, number)``."""
        double = dtype == torch.float64
        blocks = -(-number // (2 if double else 4))
        place, call = torch.arange(blocks, device=self.device), self._call()
        # The first and the third word are multiplied first. A multiple of `place` must not be taken:
        # TorchInductor computes those of a vector's lanes in 32 bits, where they overflow.
        words = philox(self.keys, (call & WORD, place, call >> 32, torch.zeros_like(place)))
        if double:
            uniform = [((one << 21) | (two >> 11)).double() * 2.0**-53 for one, two in (words[:2], words[2:])]
            smallest = 2.0**-54
        else:
            uniform = [(word >> 8).to(dtype) * 2.0**-24 for word in words]
            smallest = 2.0**-25
        numbers = _box_muller(uniform, smallest) if normal else uniform
        if self.device.type == "cuda":  # else each lane of a kernel computes all words of several counters
            numbers = [stored(each) for each in numbers]
        return torch.cat([row.expand(self.keys.shape[1], blocks) for row in numbers], 1)[:, :number]

    def _call(self) -> Tensor:
        """The number of the next call."""
        self.calls += 1
        return self.calls - 1


class NextNumbers(CounterStreams):
    """The next numbers of `streams`, as functions of its `calls`, which stay as they are.

    Attributes:
        used: calls so far.
    """

    def __init__(self, streams: CounterStreams) -> None:
        self.device, self.keys, self.calls, self.used = streams.device, streams.keys, streams.calls, 0

    def _call(self) -> Tensor:
        self.used += 1
        return self.calls + (self.used - 1)


def _box_muller(uniform: Sequence[Tensor], smallest: float) -> list[Tensor]:
    """As many independent normal numbers as uniform ones, which are at least 0 (Box and Muller 1958).

    Args:
        smallest: what is added to keep logarithms finite.
    """
    half = len(uniform) // 2
    lengths = [(-2.0 * (each + smallest).log()).sqrt() for each in uniform[:half]]
    angles = [2.0 * math.pi * each for each in uniform[half:]]
    pairs = list(zip(lengths, angles, strict=True))
    return [length * angle.cos() for length, angle in pairs] + [
        length * angle.sin() for length, angle in pairs
    ]


def _shaped(rows: Tensor, draw: Draw) -> Tensor:
    """Numbers ``(seeds, n)`` in the shape of a draw, and with its standard deviation."""
    check_batch(draw.batch, len(rows))
    rows = rows if draw.std in (None, 1.0) else draw.std * rows
    if len(rows) == 1:
        return rows.view((*draw.batch, *draw.event))
    return rows.view(len(rows), *draw.batch[:-2], draw.batch[-1], *draw.event).movedim(0, len(draw.batch) - 2)
