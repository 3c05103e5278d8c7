"""Round-trip time and the number of replicas: printed formulas beside right ones (I, rows 10 and 11)."""

from __future__ import annotations

import torch

from runner.tools.audit.finding import Figure, finding, near
from samplers.tempering.replica_count import FORMULAS, round_trip_time

REPLICAS, SWAP_PROBABILITY, WALKERS = 6, 0.3, 20_000

OPTIMA = {1.0: (2.69, 3.0, 2.62), 5.0: (8.78, 11.0, 8.65), 10.0: (16.3, 21.0, 16.2)}
"""Barrier to K* by v1, by v2 and under the constraint that all replicas share one processor."""


def simulated_round_trip(seed: int = 0) -> tuple[float, float]:
    """Mean rounds from the cold rung to the hot one and back, and its standard error.

    The index process of the theorem: up with probability s, down with probability s, each where there is a
    neighbour; 20,000 walkers, one round trip each.
    """
    generator = torch.Generator().manual_seed(seed)
    place = torch.zeros(WALKERS, dtype=torch.int64)
    been_up = torch.zeros(WALKERS, dtype=torch.bool)
    time = torch.zeros(WALKERS, dtype=torch.float64)
    under_way = torch.ones(WALKERS, dtype=torch.bool)
    while bool(under_way.any()):
        draw = torch.rand(WALKERS, generator=generator, dtype=torch.float64)
        up = (draw < SWAP_PROBABILITY) & (place < REPLICAS - 1)
        down = (draw > 1 - SWAP_PROBABILITY) & (place > 0)
        place += (up & under_way).long() - (down & under_way).long()
        time += under_way
        been_up |= place == REPLICAS - 1
        under_way &= ~(been_up & (place == 0))
    return float(time.mean()), float(time.std()) / WALKERS**0.5


@finding(
    "round-trips",
    "The expected round-trip time is K sum 1/s, not (K + 1) sum 1/s",
    where="PT-DLP v1 Theorem 4.2",
    source="settings I.10",
    method="20,000 simulated walkers against both formulas",
)
def round_trips() -> list[Figure]:
    """Six replicas that swap with probability 0.3."""
    right = round_trip_time([SWAP_PROBABILITY] * (REPLICAS - 1))
    simulated, error = simulated_round_trip()
    return [
        Figure("simulated (99.6 in the notes)", near(100.0, 5 * error), simulated, error),
        Figure("K sum 1/s", near(100.0, 0.05), right),
        Figure("(K + 1) sum 1/s, as v1 prints", near(116.7, 0.05), right * (REPLICAS + 1) / REPLICAS),
    ]


@finding(
    "replica-count",
    "The number of replicas by v1, by v2 and with what a copy costs",
    where="PT-DLP v1 Algorithm 3, v2 Lemma 4.1",
    source="settings I.11",
    method="the three formulas, evaluated",
)
def replica_counts() -> list[Figure]:
    """K* by three formulas at three barriers."""
    figures = []
    for barrier, row in OPTIMA.items():
        for name, notes in zip(("v1", "v2", "constrained"), row, strict=True):
            expected = near(notes, 0.05 if notes > 16 else 0.005)
            figures.append(Figure(f"barrier {barrier:g}: {name}", expected, FORMULAS[name](barrier)))
    return figures
