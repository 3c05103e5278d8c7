"""Which numbers are at the floor: not significantly worse than those of perfect draws."""

from __future__ import annotations

from collections.abc import Mapping

from metrics.statistics.inference import ALPHA, paired_p_value


def within_floor(values: Mapping[int, float], floor: Mapping[int, float], sign: float) -> bool:
    """Whether a one-sided paired t-test over shared seeds fails to find `values` worse than `floor`.

    Where there is no test (one seed, differences that do not vary) the means decide. False where no seed
    is shared.

    Args:
        values: a row's values by seed.
        floor: those of the floor.
        sign: 1 where smaller is better, -1 where larger is.
    """
    shared = values.keys() & floor.keys()
    if not shared:
        return False
    worse = sum(sign * (values[seed] - floor[seed]) for seed in shared) > 0.0
    two_sided = paired_p_value(values, floor)
    if two_sided is None:
        return not worse
    return not worse or two_sided / 2 >= ALPHA
