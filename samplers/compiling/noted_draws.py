"""The random numbers of a step: noted as it draws them, and given to it from one call for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from samplers.compiling.counter_streams import CounterStreams, Draw, NextNumbers
from targets.randomness import Streams


class NotedDraws(Streams):
    """Gives numbers of `streams`, whose `calls` stay as they are, and notes what was drawn.

    Attributes:
        draws: in their order.
    """

    for_compiled_steps = True

    def __init__(self, streams: CounterStreams) -> None:
        self.draws: list[Draw] = []
        self._next = NextNumbers(streams)

    def uniform(self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype) -> Tensor:
        return self._noted(Draw(tuple(batch), tuple(event), dtype))

    def normal(
        self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype, std: float = 1.0
    ) -> Tensor:
        return self._noted(Draw(tuple(batch), tuple(event), dtype, std))

    def _noted(self, draw: Draw) -> Tensor:
        self.draws.append(draw)
        return self._next.numbers([draw])[0]


class GivenDraws(Streams):
    """Gives numbers that were drawn before, in their order; the caller may write into them."""

    for_compiled_steps = True

    def __init__(self, drawn: Iterable[Tensor]) -> None:
        self._drawn = iter(drawn)

    def uniform(self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype) -> Tensor:
        return next(self._drawn).clone()

    def normal(
        self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype, std: float = 1.0
    ) -> Tensor:
        return next(self._drawn).clone()
