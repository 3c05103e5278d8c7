"""Tests of a column's samplers against the best of them, which the same numbers have chosen."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping

from metrics.inference.few_seeds import agreeing_p_value, holm


def p_values_against(
    best: str, candidates: Collection[str], values: Mapping[str, Mapping[int, float]]
) -> dict[str, float | None]:
    """P-values of the paired t-tests of all other samplers against `best`.

    Which sampler is the best depends on the values that are tested. The p-values are therefore Holm-adjusted
    over all pairs that have a test and a candidate: with probability 0.95 no sampler is called different that
    is not, whichever of them comes out best. A pair has p = 1 where the means over
    shared seeds, which are tested, are in the other order than those over all seeds, which chose the best.

    Args:
        best: one of `candidates`.
        candidates: the samplers that could have been the best.
        values: of every sampler, by seed.

    Returns:
        By sampler; None where there is no test (`paired_p_value`).
    """
    pairs = [pair for pair in itertools.combinations(values, 2) if not set(candidates).isdisjoint(pair)]
    adjusted = holm([agreeing_p_value(values[one], values[other]) for one, other in pairs])
    return {
        other if one == best else one: p_value
        for (one, other), p_value in zip(pairs, adjusted, strict=True)
        if best in (one, other)
    }
