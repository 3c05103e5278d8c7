"""Round trips: how often a replica carries a state from the cold end to the hot one and back."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, Metric
from metrics.requirements import need_replicas
from metrics.statistics.round_trip_counts import ReplicaJourneys


class RoundTrips(Metric):
    """Complete trips cold, hot, cold.

    `round_trips` is their number in a seed, all its chains and replicas counted. `round_trip_rate` is their
    number in one chain's ladder, all its replicas counted, per 1,000 rounds of swaps; with the non-reversible
    pairing it is at most 1000 / (2 + 2 Lambda) in the long run (Syed et al. 2022).
    """

    name = "round_trips"
    unit = "trips"
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        need_replicas(self.name, context)
        self.journeys = context.statistic(ReplicaJourneys)

    def result(self) -> dict[str, Tensor]:
        trips = self.journeys.trips.sum(-1).double()
        rounds = self.context.chains * self.journeys.steps
        return {"round_trips": trips, "round_trip_rate": 1000 * trips / rounds}
