"""What a ladder's pilot says of its own errors is true: 200 pilots against exact rejections."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from scipy.stats import t as student

from samplers import DMALA, Gibbs, Kernel, ParallelTempering
from samplers.tuning.pilots.ladder_rounds import LadderPilot, LadderWanted, TunedLadder, tune_ladder
from targets import Ordinal, Streams
from tests.samplers.tuning.test_ladders_and_step_sizes import exact_rejections
from tests.support.targets.small_targets import random_target, small_rbm
from tests.support.tunable import piloted, tunable

RUGGED = random_target(Ordinal(2, 9), seed=7, roughness=8.0)
PILOTS = 200


def ladder(kernel: Kernel, seed: int, replicas: int | None = None) -> TunedLadder:
    wanted = LadderWanted(replicas=replicas)
    return piloted(lambda run: tune_ladder(run, kernel, wanted), RUGGED, Streams([seed], "tuning"))


def test_rounds_end_where_the_barrier_is_known() -> None:
    """Gibbs on 81 states: all that the pilot of a full effort may do is never needed."""
    found, pilot = ladder(Gibbs(), 0), LadderPilot()
    assert found.standard_error <= 0.02 * found.barrier[-1]
    assert found.report()["barrier_standard_error"] == found.standard_error
    longest = pilot.replicas * pilot.rounds * pilot.steps * RUGGED.space.d
    assert found.evaluations < 0.5 * longest


def test_no_effort_ends_a_pilot_before_it_has_begun() -> None:
    sampler = tunable(ParallelTempering, DMALA(0.3), replicas=3)
    found = sampler.tune(small_rbm(), Streams([0], "tuning"), effort=1e-6)
    assert len(found.report["barrier_by_round"]) == 2
    assert len(found.hyperparameters["ladder"]) == 3


@pytest.mark.slow
def test_200_pilots_cover_the_exact_barrier_and_make_rejections_equal() -> None:
    """Their 95 % intervals contain the exact barrier of their pilot ladder in 0.90 to 0.99 of cases.

    Of a coverage of 0.95 one sees less than 0.90 once in 860 times, more than 0.99 once in 2,500. Rejections
    between neighbours of the ladders found, by enumeration, differ by at most 0.1 in all.
    """
    width = float(student.ppf(0.975, LadderPilot().chains - 1))
    inside, spreads, rejections = 0, [], []
    for seed in range(PILOTS):
        found = ladder(Gibbs(), seed, replicas=5)
        exact = sum(exact_rejections(RUGGED, found.pilot_ladder))
        inside += abs(found.barrier[-1] - exact) <= width * found.standard_error
        betas = found.betas.tolist()
        assert all(cold > hot for cold, hot in pairwise(betas))
        own = exact_rejections(RUGGED, betas)
        spreads.append(max(own) - min(own))
        rejections.append(sum(own))
    deviation = math.sqrt(sum((each - sum(rejections) / PILOTS) ** 2 for each in rejections) / PILOTS)
    print(f"\ncoverage {inside / PILOTS}, largest spread {max(spreads):.3f}, barrier +- {deviation:.3f}")
    assert 0.90 <= inside / PILOTS <= 0.99
    assert max(spreads) <= 0.1
