"""Round trips of replicas: from the cold end of the ladder to the hot end and back.

A label can make the journey with a state that no move at the hot end has changed, as where hot proposals are
all refused. A renewed trip is one on which the state changed there; what it counts are independent arrivals.

Each replica of each chain is in one of three states, which change only at the ends of the ladder:

    NEW --cold--> LEFT_COLD --hot--> REACHED_HOT --cold--> LEFT_COLD, which completes one round trip.
"""

from __future__ import annotations

import math
from typing import Self

import torch
from torch import Tensor

from metrics.metric import Context, Metric, UnsupportedMetric
from metrics.requirements import require_replicas
from metrics.statistics.sums import Sums
from samplers.kernel import Info, SwapInfo
from samplers.tempering.parallel_tempering import ParallelTempering

NEW, LEFT_COLD, REACHED_HOT = 0, 1, 2
HOT_FIRST = 3
"""What is added to a state, which is a code then, if the replica was at the hot end before the cold one."""

AFTER_HOT, AFTER_COLD, COMPLETES = (3, 2, 2, 3, 5, 5), (1, 1, 1, 4, 4, 4), (0, 0, 1, 0, 0, 1)
"""Of each code, 0 to 5: the next one at either end, and the round trips that are complete at the cold one."""


class RoundTripCounts(Sums):
    """Completed round trips, from the replica labels after each swap round.

    Attributes:
        trips: round trips of each chain, summed over replicas, ``(seeds, chains)``, int64.
        code: NEW, LEFT_COLD or REACHED_HOT of each replica, ``(replicas, seeds, chains)``, int64; more by
            `HOT_FIRST` if it visited the hot end before the cold one, which `merge` needs.

    Raises:
        UnsupportedMetric: if the kernel has no replicas that swap.
    """

    saved = ("code",)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        shape = (require_replicas("round trips", context), context.seeds, context.chains)
        self.trips = self.zeros("trips", *shape[1:], dtype=torch.int64)
        self.code = torch.full(shape, NEW, device=context.device)
        # Looked up, an update takes half of the time.
        self._after_hot, self._after_cold, self._completes = (
            torch.tensor(table, device=context.device) for table in (AFTER_HOT, AFTER_COLD, COMPLETES)
        )

    @property
    def state(self) -> Tensor:
        """NEW, LEFT_COLD or REACHED_HOT of each replica, like `code`."""
        return self.code % HOT_FIRST

    @property
    def hot_first(self) -> Tensor:
        """Whether the replica visited the hot end before the cold one, like `code`."""
        return self.code >= HOT_FIRST

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        if info.swap is None:
            return
        cold, (hot, arrived) = info.swap.replica[:1], self.at_hot_end(info, info.swap)
        before = self.code.gather(0, hot)
        after = self._after_hot.take(before)
        self.code.scatter_(0, hot, after if arrived is None else torch.where(arrived, after, before))
        before = self.code.gather(0, cold)
        self.trips.add_(self._completes.take(before).squeeze(0))
        self.code.scatter_(0, cold, self._after_cold.take(before))
        self.steps += 1

    def at_hot_end(self, info: Info, swap: SwapInfo) -> tuple[Tensor, Tensor | None]:
        """The replica at the hot end ``(1, seeds, chains)``, and whether that counts; None where all do."""
        return swap.replica[-1:], None

    def merge(self, other: Self) -> None:
        state, hot_first = other.state.to(self.code.device), other.hot_first.to(self.code.device)
        saw_cold = state != NEW
        # `other` alone cannot count a round trip that had started before its first step.
        underway = (self.state == REACHED_HOT) | ((self.state == LEFT_COLD) & hot_first)
        super().merge(other)
        self.trips.add_((underway & saw_cold).sum(0))
        either = self.hot_first | ((self.state == NEW) & hot_first)
        carried = torch.where(underway, REACHED_HOT, self.state)
        self.code.copy_(torch.where(saw_cold, state, carried) + HOT_FIRST * either)


class RenewedTripCounts(RoundTripCounts):
    """The same, where a replica has been at the hot end only once a move there has changed its state.

    The move comes before the swaps: if the hottest pair swapped, its replica stands one rung colder now.
    """

    def at_hot_end(self, info: Info, swap: SwapInfo) -> tuple[Tensor, Tensor | None]:
        assert info.hot_jump is not None
        moved = torch.where(swap.accepted[-1:], swap.replica[-2:-1], swap.replica[-1:])
        return moved, info.hot_jump.unsqueeze(0) > 0


class RoundTrips(Metric):
    """Completed round trips cold - hot - cold.

    - `round_trips`: their number in a seed, summed over chains and replicas. Labels travel: a trip also
      counts if the state came back unchanged (`renewed_round_trips` counts the others).
    - `round_trip_rate`: their number per chain, summed over replicas, per 1,000 swap rounds; with the
      non-reversible pairing it is at most 1000 / (2 + 2 Lambda) in the long run (Syed et al. 2022).

    Raises:
        UnsupportedMetric: if the kernel has no replicas that swap.
    """

    name = "round_trips"
    unit = "trips"
    bounds = (0.0, math.inf)
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        require_replicas(self.name, context)
        self.counts = context.statistic(RoundTripCounts)

    def result(self) -> dict[str, Tensor]:
        trips = self.counts.trips.sum(-1).double()
        rounds = self.context.chains * self.counts.steps
        return {"round_trips": trips, "round_trip_rate": 1000 * trips / rounds}


class RenewedRoundTrips(Metric):
    """Completed round trips cold - hot - cold on which a move at the hot end changed the state.

    - `renewed_round_trips`: their number in a seed, summed over chains and replicas.

    Raises:
        UnsupportedMetric: if the kernel is not parallel tempering, which alone has `Info.hot_jump`.
    """

    name = "renewed_round_trips"
    unit = "trips"
    bounds = (0.0, math.inf)
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        if not isinstance(context.kernel, ParallelTempering):
            kind = type(context.kernel).__name__
            raise UnsupportedMetric(f"{self.name} needs parallel tempering; {kind} is none")
        self.counts = context.statistic(RenewedTripCounts)

    def result(self) -> dict[str, Tensor]:
        return {self.name: self.counts.trips.sum(-1).double()}
