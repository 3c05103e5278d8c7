"""Random numbers that do not depend on the batch composition.

Seeds are a batch axis, so several runs share one tensor operation. Each seed has its own generator
nevertheless: seed 3 draws the same numbers whatever other seeds are in the batch, in any order.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from targets.seeds import SEEDED_BY_A_WORD

TWISTER_WORDS = slice(3, 627)
"""Where torch's CPU generator, a Mersenne Twister, has its 624 words in its state of 64-bit integers."""

LONG_ROW = 2**14
"""Random numbers of a seed from which it takes longer to draw them than to hand them to a thread."""


def derive_seed(seed: int, purpose: str) -> int:
    """A 63-bit seed for one `purpose` of a run (``"chain"``, ``"start"``, ``"reference"``, ...).

    torch reads all of it on a GPU and the low 32 bits on the CPU. That is enough for what a run draws once,
    such as the first weights; `Streams` has more.
    """
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _generator(seed: int, purpose: str, device: torch.device) -> torch.Generator:
    """The generator of a stream; on the CPU that of a large seed has a hash of its name as its whole state.

    Raises:
        RuntimeError: if this version of torch keeps the state of its CPU generator in another way.
    """
    number = derive_seed(seed, purpose)
    generator = torch.Generator(device).manual_seed(number)
    if device.type != "cpu" or 0 <= seed < SEEDED_BY_A_WORD:
        return generator
    state = generator.get_state()
    words = state.numpy().view(np.int64)[TWISTER_WORDS]
    if words[0] != number % 2**32:
        raise RuntimeError(f"torch {torch.__version__} keeps its CPU generator's state in an unknown way")
    words[:] = np.frombuffer(hashlib.shake_256(f"{seed}/{purpose}".encode()).digest(4 * 624), "<u4")
    return generator.set_state(state)


def check_batch(batch: Sequence[int], seeds: int) -> None:
    """Refuses a batch that does not have so many seeds.

    Raises:
        ValueError: naming its shape; streams of one seed serve every batch.
    """
    if seeds > 1 and (len(batch) < 2 or batch[-2] != seeds):
        raise ValueError(
            f"a batch with streams of {seeds} seeds ends in the axes (seeds, chains), that is "
            f"(.., {seeds}, chains); {tuple(batch)} was given"
        )


class Streams:
    """One generator per seed, with the interface of a single generator.

    Batches end in the axes ``(seeds, chains)``: ``batch = (*leading, seeds, chains)``, where the leading
    axes hold, for instance, the replicas of a ladder. Streams of one seed serve every batch, and need no axis
    of seeds.

    The probability that two of n streams are the same is n^2 / 2^64 on a GPU (10^5 streams: 5e-10) and
    far below that on the CPU. The CPU streams of seeds below 4,096 are hashes of 32 bits, for which it is
    n^2 / 2^33; those of the purposes of a run have been compared, and all differ. Among the streams that
    trainings have for each iteration (``"replay buffer 17"``), 10^5 or more, a pair may be the same.

    Args:
        seeds: the runs' seeds, in the order of the seed axis.
        purpose: name of the use; streams of different purposes are independent.
        device: device on which the numbers are drawn.

    Attributes:
        for_compiled_steps: whether the steps that take the numbers are to be compiled.
    """

    for_compiled_steps: ClassVar[bool] = False

    def __init__(self, seeds: Sequence[int], purpose: str, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self.generators = [_generator(seed, purpose, self.device) for seed in seeds]

    def _filled(
        self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype, fill: Callable[..., Tensor]
    ) -> Tensor:
        """A tensor ``(*batch, *event)``, filled seed by seed."""
        number = len(self.generators)
        if number == 1 and (len(batch) < 2 or batch[-2] != 1):
            whole = torch.empty((*batch, *event), dtype=dtype, device=self.device)
            fill(whole, generator=self.generators[0])
            return whole
        check_batch(batch, number)
        *leading, seeds, chains = batch
        rows = torch.empty((seeds, *leading, chains, *event), dtype=dtype, device=self.device)
        for _ in _map_for(rows)(lambda row, own: fill(row, generator=own), rows, self.generators):
            pass
        return rows.movedim(0, len(leading))

    def uniform(self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype) -> Tensor:
        """Uniform numbers on [0, 1) of shape ``(*batch, *event)``."""
        return self._filled(batch, event, dtype, Tensor.uniform_)

    def normal(
        self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype, std: float = 1.0
    ) -> Tensor:
        """Normal numbers of mean 0 and standard deviation `std`, shape ``(*batch, *event)``."""
        return self._filled(batch, event, dtype, partial(Tensor.normal_, std=std))

    def state_dict(self) -> dict[str, list[Tensor]]:
        """The states of all generators; `load_state_dict` continues from there."""
        return {"generators": [generator.get_state() for generator in self.generators]}

    def load_state_dict(self, state: dict[str, list[Tensor]]) -> None:
        for generator, saved in zip(self.generators, state["generators"], strict=True):
            generator.set_state(saved)


def _map_for(rows: Tensor) -> Callable[..., Iterator[Any]]:
    """`map`, with a thread for each of `rows` where several threads are allowed and the rows are long.

    A generator fills on one thread, and torch lets those of other rows fill meanwhile.
    """
    threads = torch.get_num_threads()
    few = threads == 1 or rows[0].numel() < LONG_ROW
    # A tensor of inference mode is not written to by a thread without it.
    if few or rows.device.type != "cpu" or rows.is_inference():
        return map
    return _threads(threads, os.getpid()).map


@lru_cache(maxsize=1)
def _threads(number: int, process: int) -> ThreadPoolExecutor:
    """Threads of this process, since a child that forked has none of them."""
    return ThreadPoolExecutor(number, thread_name_prefix="random numbers")


Generator = torch.Generator | Streams


def for_compiled_steps(generator: Generator) -> bool:
    """Whether the steps that take its numbers are to be compiled."""
    return isinstance(generator, Streams) and generator.for_compiled_steps


def uniform(generator: Generator, batch: Sequence[int], event: Sequence[int] = (), *, like: Tensor) -> Tensor:
    """Uniform numbers on [0, 1), shape ``(*batch, *event)``, with the dtype and device of `like`."""
    if isinstance(generator, Streams):
        return generator.uniform(batch, event, like.dtype)
    return torch.rand((*batch, *event), generator=generator, dtype=like.dtype, device=like.device)


def normal(
    generator: Generator, batch: Sequence[int], event: Sequence[int] = (), *, like: Tensor, std: float = 1.0
) -> Tensor:
    """Normal numbers of mean 0, shape ``(*batch, *event)``, with the dtype and device of `like`."""
    if isinstance(generator, Streams):
        return generator.normal(batch, event, like.dtype, std)
    empty = torch.empty((*batch, *event), dtype=like.dtype, device=like.device)
    return empty.normal_(std=std, generator=generator)


def draw_index(weights: Tensor, numbers: Tensor) -> Tensor:
    """An index drawn in proportion to the weights of its row, by inversion: ``(*batch)``, int64.

    Args:
        weights: ``(*batch, n)``, or ``(n,)`` for all rows; at least 0, with a positive sum.
        numbers: uniform on [0, 1), ``(*batch)``.
    """
    cumulative = weights.cumsum(-1)
    wanted = numbers * cumulative[..., -1]
    if weights.dim() == 1:
        return torch.searchsorted(cumulative, wanted.contiguous(), right=True).clamp_(max=len(weights) - 1)
    return (cumulative <= wanted.unsqueeze(-1)).sum(-1).clamp_(max=weights.shape[-1] - 1)
