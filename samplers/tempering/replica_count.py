"""How many replicas a ladder needs, from its communication barrier: as printed, and corrected."""

from __future__ import annotations

import math
from collections.abc import Callable

from targets.checks import one_of


def optimal_v1(barrier: float) -> float:
    """PT-DLP v1, Algorithm 3: from a round-trip formula that is off by one (settings I, row 10)."""
    return (2 + 3 * barrier + math.sqrt(9 * barrier**2 + 20 * barrier + 4)) / 4


def optimal_v2(barrier: float) -> float:
    """PT-DLP v2, Lemma 4.1: maximises the round-trip rate of one copy and ignores the cost of a copy."""
    return 2 * barrier + 1


def optimal_constrained(barrier: float) -> float:
    """Maximises the round-trip rate of all copies on hardware that holds K_total chains.

    With B = K_total / K copies of K equal rungs, s = 1 - barrier / (K - 1) and a rate of 1 / sum(1 / s) per
    copy, the total is proportional to (K - 1 - barrier) / (K (K - 1)^2) (settings I, row 11).
    """
    load = 1 + barrier
    return (3 * load + math.sqrt(9 * load**2 - 8 * load)) / 4


FORMULAS: dict[str, Callable[[float], float]] = {
    "v1": optimal_v1,
    "v2": optimal_v2,
    "constrained": optimal_constrained,
}


def optimal_replicas(barrier: float, formula: str = "constrained", limit: int | None = None) -> int:
    """The formula's number of replicas, rounded to a whole number from 2 to `limit`."""
    replicas = max(2, round(FORMULAS[one_of("replicas_formula", formula, FORMULAS)](barrier)))
    return replicas if limit is None else min(replicas, limit)


def round_trip_time(swap_probabilities: list[float]) -> float:
    """Expected rounds for a replica to go from cold to hot and back, all pairs tried at random.

    E[T] = K sum 1 / s_k, by first-step analysis of the index process that moves from k to k + 1 with
    probability s_k and to k - 1 with s_{k-1}; v1, Theorem 4.2 has K + 1 in place of K.
    """
    return (len(swap_probabilities) + 1) * sum(1 / s for s in swap_probabilities)
