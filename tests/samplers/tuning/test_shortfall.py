"""Searches for a step size that end without the wanted acceptance say so."""

from __future__ import annotations

import pytest
import torch

from samplers import AB, DLMC, DMALA, PAS, Kernel, ParallelTempering
from samplers.pilot_run import PilotRun, Steps
from samplers.tuning.pilots.shortfall import shortfall
from samplers.tuning.pilots.sought_step_sizes import Pilot, Sought, StepSizes
from samplers.tuning.pilots.step_size import closer_look
from samplers.tuning.tunable import TuningResult
from targets import MixtureOfGaussians, Ordinal, Streams, Target
from targets.function_target import FunctionTarget
from targets.synthetic.independent import IndependentBits
from tests.support.tunable import piloted, tunable

BITS = IndependentBits(30, 2.0).float()


def looked_from(size: float) -> tuple[StepSizes, list[str]]:
    """What a closer look finds from step sizes of `size` at beta = 1 and 0.5, and the warnings."""
    sought = Sought(DMALA, torch.tensor([1.0, 0.5]))
    theta = BITS.initial((2, 1, 16), Streams([0], "start"))
    near = StepSizes(torch.full((2,), size, dtype=torch.float64), torch.zeros(1, 2), theta, 0)

    def look(run: PilotRun[tuple[StepSizes, list[str]]]) -> Steps[tuple[StepSizes, list[str]]]:
        found = yield from closer_look(run, sought, near, Pilot(chains=16, closer=20))
        return found, shortfall(run, sought, found).get("warnings", [])

    return piloted(look, BITS, Streams([0], "tuning"))


def test_a_search_that_ends_on_its_way_is_named() -> None:
    """Six looks go up by a factor of 15; the step sizes are 0.64 and 1.5."""
    found, (sentence,) = looked_from(0.02)
    assert found.unfinished is not None
    assert found.reached is not None
    assert found.unfinished.tolist() == [True, True]
    assert sentence == (
        "the search from 0.02 to 20 for a step size that is accepted with probability 0.574 at beta=1 ended "
        f"early: at 0.291038 it is {found.reached[0]:.2f}; give sampler.step_size, or a larger tuning.effort"
    )
    found, (sentence,) = looked_from(0.05)
    assert found.unfinished is not None
    assert found.unfinished.tolist() == [False, True]
    assert "at beta=0.5 ended early" in sentence
    assert looked_from(0.2)[1] == []


def levels(d: int, levels: int, slope: float) -> Target:
    """Independent coordinates, log-linear in their levels."""
    slopes = torch.linspace(-slope, slope, d)
    return FunctionTarget(lambda theta: (theta * slopes).sum(-1), Ordinal(d, levels))


def test_the_longest_step_size_of_two_levels_is_named_where_a_longer_one_would_do() -> None:
    """At 1 AB is accepted with about 0.9, at 20 with less; more levels reach as far as they need."""
    (sentence,) = tuned_to(levels(20, 2, 1.5), AB).report["warnings"]
    assert sentence.startswith(
        "no step size from 0.05 to 1 is accepted with probability 0.574: at 1 it is 0."
    )
    assert sentence.endswith("; give a longer sampler.step_size")
    assert "warnings" not in tuned_to(levels(10, 5, 0.5), AB).report
    assert "warnings" not in tuned_to(IndependentBits(20, 0.1), AB).report, "bits are tried up to 20"
    assert "warnings" not in tuned_to(levels(6, 2, 0.3), PAS).report, "no radius is above the dimension"


def tuned_to(target: Target, kernel: type[Kernel]) -> TuningResult:
    return tunable(kernel).tune(target.float(), Streams([0], "tuning"), effort=0.3)


@pytest.mark.parametrize("kernel", [DLMC, DMALA])
def test_a_search_whose_acceptance_hardly_falls_is_named(kernel: type[Kernel]) -> None:
    """That of DLMC on this grid does not fall below 0.78, and a short pilot does not come to its end."""
    target = MixtureOfGaussians(components=8).float()
    report = tunable(ParallelTempering, tunable(kernel)).tune(target, Streams([0], "tuning"), 0.3).report
    assert ("warnings" in report) == (kernel is DLMC)
