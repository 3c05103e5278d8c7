"""Tests of a column's samplers against the best of them, which the same numbers have chosen."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping

from metrics.inference.few_seeds import holm, paired_p_value


def p_values_against(
    best: str, candidates: Collection[str], values: Mapping[str, Mapping[int, float]]
) -> dict[str, float | None]:
    """P-values of the paired t-tests of all other samplers against `best`.

    Which sampler is the best depends on the values that are tested. The p-values are therefore Holm-adjusted
    over all pairs that might have been tested: with probability 0.95 no sampler is called different that is
    not, whichever of them comes out best. A pair has p = 1 where the means over shared seeds, which are
    tested, are in the other order than those over all seeds, which chose the best.

    Args:
        best: one of `candidates`.
        candidates: the samplers that could have been the best.
        values: of every sampler, by seed.

    Returns:
        By sampler; None where there is no test (`paired_p_value`).
    """
    pairs = [pair for pair in itertools.combinations(values, 2) if not set(candidates).isdisjoint(pair)]
    adjusted = holm([_p_value(values[one], values[other]) for one, other in pairs])
    return {
        other if one == best else one: p_value
        for (one, other), p_value in zip(pairs, adjusted, strict=True)
        if best in (one, other)
    }


def _p_value(one: Mapping[int, float], other: Mapping[int, float]) -> float | None:
    """That of the paired t-test, or 1 where it would contradict the means over all seeds."""
    p_value, shared = paired_p_value(one, other), one.keys() & other.keys()
    if p_value is None or len(shared) == len(one) == len(other):
        return p_value
    of_all = sum(one.values()) / len(one) - sum(other.values()) / len(other)
    of_shared = sum(one[seed] - other[seed] for seed in shared)
    return 1.0 if of_all * of_shared < 0.0 else p_value
