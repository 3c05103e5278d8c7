"""Round trips of replicas: from the cold end of the ladder to the hot end and back."""

from __future__ import annotations

from torch import Tensor

from metrics.metric import Context, Metric
from metrics.requirements import require_replicas
from metrics.statistics.round_trip_counts import RoundTripCounts


class RoundTrips(Metric):
    """Completed round trips cold - hot - cold.

    - `round_trips`: their number in a seed, summed over chains and replicas.
    - `round_trip_rate`: their number per chain, summed over replicas, per 1,000 swap rounds; with the
      non-reversible pairing it is at most 1000 / (2 + 2 Lambda) in the long run (Syed et al. 2022).

    Raises:
        UnsupportedMetric: if the kernel has no replicas that swap.
    """

    name = "round_trips"
    unit = "trips"
    direction = "max"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        require_replicas(self.name, context)
        self.counts = context.statistic(RoundTripCounts)

    def result(self) -> dict[str, Tensor]:
        trips = self.counts.trips.sum(-1).double()
        rounds = self.context.chains * self.counts.steps
        return {"round_trips": trips, "round_trip_rate": 1000 * trips / rounds}
