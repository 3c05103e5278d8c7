"""Which neighbouring pairs of a ladder of K rungs may swap in a round."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from targets.randomness import Generator, uniform


def alternating(rungs: int, parity: Tensor) -> Tensor:
    """Pairs (k, k + 1) whose k has the given `parity` ``(*batch)`` or ``()``: bool ``(K - 1, *batch)``."""
    pair = torch.arange(rungs - 1, device=parity.device).reshape(-1, *(1,) * parity.dim())
    return (pair - parity) % 2 == 0


class Pairing:
    """Deterministic even-odd pairing (DEO): even pairs, then odd pairs, in turn.

    Each round leaves the product target invariant, though two in turn are not reversible; the index process
    then moves ballistically (Syed et al. 2022, the scheme that PT-DLP leaves to future work).

    Attributes:
        sequential: whether the pairs are gone through one after the other instead of all at once.
    """

    sequential = False

    def meeting(self, rungs: int, batch: Sequence[int], turn: Tensor, generator: Generator) -> Tensor:
        """Pairs that meet in round `turn` (int64 scalar): bool, broadcasting to ``(K - 1, *batch)``."""
        return alternating(rungs, turn % 2).reshape(-1, *(1,) * len(batch))


class Stochastic(Pairing):
    """Stochastic even-odd pairing (SEO): each chain draws even or odd pairs at random; reversible."""

    def meeting(self, rungs: int, batch: Sequence[int], turn: Tensor, generator: Generator) -> Tensor:
        like = torch.empty(0, device=turn.device)
        return alternating(rungs, (uniform(generator, batch, like=like) < 0.5).long())


class Sequential(Pairing):
    """All pairs from cold to hot, as PT-DLP's Algorithm 1 prints it; a replica may climb several rungs."""

    sequential = True

    def meeting(self, rungs: int, batch: Sequence[int], turn: Tensor, generator: Generator) -> Tensor:
        return torch.ones((rungs - 1, *(1,) * len(batch)), dtype=torch.bool, device=turn.device)


PAIRINGS: dict[str, type[Pairing]] = {
    "odd_even": Pairing,
    "sequential": Sequential,
    "stochastic": Stochastic,
}
