"""The random numbers of a step: noted as it draws them, and drawn again for each further step."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from targets.randomness import Generator, Streams, normal, uniform

Draws = Callable[[Generator], list[Tensor]]
"""Draws some of the numbers of a step."""


@dataclass(frozen=True)
class _Call:
    """One call for random numbers: uniform, or normal with a standard deviation `std`."""

    batch: tuple[int, ...]
    event: tuple[int, ...]
    dtype: torch.dtype
    std: float | None = None

    def draw(self, generator: Generator) -> Tensor:
        like = torch.empty(0, dtype=self.dtype)
        if self.std is None:
            return uniform(generator, self.batch, self.event, like=like)
        return normal(generator, self.batch, self.event, like=like, std=self.std)


class NotedDraws(Streams):
    """Draws from `inner` and notes what was drawn."""

    def __init__(self, inner: Generator) -> None:
        self._inner = inner
        self._calls: list[_Call] = []

    def uniform(self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype) -> Tensor:
        return self._note(_Call(tuple(batch), tuple(event), dtype))

    def normal(
        self, batch: Sequence[int], event: Sequence[int], dtype: torch.dtype, std: float = 1.0
    ) -> Tensor:
        return self._note(_Call(tuple(batch), tuple(event), dtype, std))

    def calls(self) -> list[Draws]:
        """What draws the same numbers once more, in their order, in as few calls as there can be.

        Uniform numbers in a row come from one call: each call of a generator costs as much as 2,000 numbers.
        """
        found: list[Draws] = []
        for together, group in itertools.groupby(self._calls, self._can_join):
            calls = list(group)
            found += [_joined(calls)] if together and len(calls) > 1 else map(_alone, calls)
        return found

    def _can_join(self, call: _Call) -> torch.dtype | None:
        """The dtype of numbers that can be drawn with others: on the CPU, one after the other."""
        inner = self._inner
        ours = isinstance(inner, Streams) and inner.device.type == "cpu"
        return call.dtype if ours and call.std is None else None

    def _note(self, call: _Call) -> Tensor:
        self._calls.append(call)
        return call.draw(self._inner)


def _alone(call: _Call) -> Draws:
    return lambda generator: [call.draw(generator)]


def _joined(calls: Sequence[_Call]) -> Draws:
    shapes, dtype = [(call.batch, call.event) for call in calls], calls[0].dtype

    def draw(generator: Generator) -> list[Tensor]:
        assert isinstance(generator, Streams)
        return generator.uniforms(shapes, dtype)

    return draw
