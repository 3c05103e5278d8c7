"""Random numbers of a GPU run drawn on the CPU, so that its results can be set beside those of the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from targets import randomness
from targets.randomness import Streams


class HostGenerator(torch.Generator):
    """A generator on the CPU, whatever device it is asked for."""

    def __new__(cls, device: Any = None) -> HostGenerator:
        return super().__new__(cls, "cpu")


@contextmanager
def host_numbers() -> Iterator[None]:
    """Inside the block all random numbers are those of the CPU, whatever device they are asked for."""
    own, rand = randomness._generator, torch.rand

    def generator(seed: int, purpose: str, device: torch.device) -> torch.Generator:
        return own(seed, purpose, torch.device("cpu"))

    def moved(*size: Any, generator: torch.Generator, device: Any = None, **options: Any) -> Tensor:
        return rand(*size, generator=generator, **options).to(device)

    def filled(
        self: Streams,
        batch: Sequence[int],
        event: Sequence[int],
        dtype: torch.dtype,
        fill: Callable[..., Tensor],
    ) -> Tensor:
        *leading, seeds, chains = batch
        assert seeds == len(self.generators)
        rows = torch.empty((seeds, *leading, chains, *event), dtype=dtype)
        for row, each in zip(rows, self.generators, strict=True):
            fill(row, generator=each)
        return rows.movedim(0, len(leading)).to(self.device)

    with (
        mock.patch.object(randomness, "_generator", generator),
        mock.patch.object(Streams, "_filled", filled),
        mock.patch.object(torch, "Generator", HostGenerator),
        mock.patch.object(torch, "rand", moved),
    ):
        yield
