"""What a reader must know of the searches of ACS: those that ended far from the wanted acceptance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samplers.tuning.pilots.acs_cycle import BIG, SMALL, Aims, Found, move_lengths
from samplers.tuning.pilots.shortfall import Missed
from samplers.tuning.tunable import WARNINGS
from targets.spaces import Discrete

LOWER_AIM, FASTER = "a lower sampler.target_acceptance", "a larger sampler.zeta"


def cycle_shortfall(space: Discrete, aims: Aims, searches: Mapping[str, Found]) -> dict[str, Any]:
    """For the report of a tuning: the acceptances reached, and a warning for each search that falls short.

    One falls short whose acceptance is below half of the wanted one; that of the floor, which goes upwards,
    also where its acceptance is still more than half of the way from the wanted one to 1 and its step size
    below that of a nearly uniform proposal. Empty where all is well.

    Args:
        searches: by what was sought, ``min_step_size`` or ``step_size``.
    """
    shortest, longest = move_lengths(space)
    sentences = []
    for name, found in searches.items():
        (low, high), wanted = found.tried, aims.acceptance
        upwards = name == "min_step_size"
        ended_early = high < BIG * longest if upwards else low > SMALL * shortest
        frozen = found.acceptance < wanted / 2
        if not frozen and not (upwards and ended_early and found.acceptance > (1 + wanted) / 2):
            continue
        remedy = LOWER_AIM if frozen and (upwards or not ended_early) else FASTER
        missed = Missed(name, found.tried, wanted, found.step_size, found.acceptance, remedy)
        sentences.append(missed.sentence(f" with balancing {0.5 if upwards else aims.balancing_max:g}"))
    if not sentences:
        return {}
    return {"reached_acceptance": [found.acceptance for found in searches.values()], WARNINGS: sentences}
