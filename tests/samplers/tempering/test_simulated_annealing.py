"""Simulated annealing: its schedules, its steps against enumerated products, step sizes along the way."""

from __future__ import annotations

import math
from functools import reduce

import pytest
import torch

from metrics.enumeration.transition_matrix import transition_matrix
from samplers import DMALA, Gibbs, Kernel, ParallelTempering, RandomWalk, SimulatedAnnealing
from samplers.tempering.annealing_schedule import SCHEDULES, annealing_schedule
from samplers.tempering.simulated_annealing import POSITION
from samplers.tuning.configured import configured
from samplers.tuning.tunable import Tunable
from targets import MaxCut
from tests.support.checks import dkw_band, largest_gap, sampled_rows
from tests.support.error_message import error_message
from tests.support.steps.stepping import ONE, seeded, started
from tests.support.targets.small_targets import SPACES, random_target

TARGET = random_target(SPACES["binary"], seed=3, roughness=2.0)
KERNELS: dict[str, tuple[Kernel, list[Kernel]]] = {
    "gibbs": (Gibbs(), [Gibbs()] * 4),
    "dmala": (DMALA(0.5), [DMALA(0.5)] * 4),
    "dmala_steps": (DMALA(0.5), [DMALA(size) for size in (4.0, 2.0, 1.0, 0.5)]),
}


@pytest.mark.parametrize("kind", SCHEDULES)
def test_a_schedule_rises_from_the_first_to_the_last(kind: str) -> None:
    betas = annealing_schedule(50, kind, 0.02, 2.0)
    assert betas[0] == pytest.approx(0.02)
    assert betas[-1] == pytest.approx(2.0)
    assert bool((betas.diff() > 0).all())
    temperature = 1 / betas - 0.5
    if kind == "linear":
        torch.testing.assert_close(betas.diff(), torch.full((49,), 1.98 / 49, dtype=torch.float64))
    if kind == "geometric":
        ratios = betas[1:] / betas[:-1]
        torch.testing.assert_close(ratios, torch.full((49,), 100.0 ** (1 / 49), dtype=torch.float64))
    if kind == "exponential":  # the temperature above its limit shrinks by the same factor in each step
        limit = temperature[0] - (temperature[0] - temperature[-1]) / (1 - math.exp(-5))
        shrinks = (temperature[1:] - limit) / (temperature[:-1] - limit)
        torch.testing.assert_close(shrinks, torch.full((49,), math.exp(-5 / 49), dtype=torch.float64))


REFUSED = [
    ((1, "linear", 0.1, 1.0), "steps must be a whole number of at least 2, 1 was given"),
    ((9, "cosine", 0.1, 1.0), "schedule must be one of exponential, geometric, linear, 'cosine' was given"),
    ((9, "linear", 0.1, 0.0), "coldest must be a positive number, 0.0 was given"),
    ((9, "linear", 1.0, 1.0), "hottest must be at least 0 and below coldest=1, 1.0 was given"),
    ((9, "geometric", 0.0, 1.0), "hottest must be above 0 for schedule=geometric, 0.0 was given"),
]


@pytest.mark.parametrize(("given", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_a_schedule_is_refused(given: tuple[int, str, float, float], sentence: str) -> None:
    assert sentence in error_message(ValueError, annealing_schedule, *given)


@pytest.mark.parametrize("name", KERNELS)
def test_where_a_run_ends_is_the_product_of_its_transition_matrices(name: str) -> None:
    """False alarm 1e-6 (DKW). Two steps more than the schedule has are at its last inverse temperature."""
    base, along = KERNELS[name]
    sizes = None if name != "dmala_steps" else (4.0, 0.5)
    kernel = SimulatedAnnealing(base, 4, "geometric", 0.05, 1.5, sizes)
    assert kernel.exact is False
    betas = [0.05, 0.05 * 30 ** (1 / 3), 0.05 * 30 ** (2 / 3), 1.5, 1.5, 1.5]
    along = [*along, along[-1], along[-1]]
    pairs = zip(along, betas, strict=True)
    expected = reduce(torch.matmul, [transition_matrix(one, TARGET, 0.8 * beta) for one, beta in pairs])
    draws = 40_000
    band = dkw_band(draws, len(expected))
    frequencies = sampled_rows(kernel, TARGET, 0.8, draws, steps=6)
    assert largest_gap(frequencies, expected) <= band < 0.02
    # The test would notice a schedule that is run backwards, or one that does not move.
    for wrong in (betas[::-1], betas[:1] * 6):
        pairs = zip(along, wrong, strict=True)
        other = reduce(torch.matmul, [transition_matrix(one, TARGET, 0.8 * beta) for one, beta in pairs])
        assert largest_gap(other, expected) > 2 * band


def test_the_state_is_untempered_and_knows_its_place() -> None:
    kernel = SimulatedAnnealing(RandomWalk(), 3, "linear", 0.0, 5.0)
    state = started(kernel, TARGET, (2, 5), seeded())
    for place in (0, 1, 2, 2):
        assert int(state.aux[POSITION]) == place
        state, info = kernel.step(TARGET, state, ONE, seeded(place))
        torch.testing.assert_close(state.log_prob, TARGET.log_prob(state.theta))
        assert info.evaluations == 1


def test_step_sizes_are_tuned_along_the_schedule() -> None:
    target = MaxCut({"nodes": 40, "degree": 6.0}, scale=2.0)
    tunable = configured(SimulatedAnnealing, configured(DMALA), steps=300, step_size="auto", coldest=2.0)
    assert isinstance(tunable, Tunable)
    assert tunable.open == ("step_size",)
    kernel = tunable.tuned(target, seeded())
    assert isinstance(kernel, SimulatedAnnealing)
    sizes = kernel.step_sizes
    assert sizes is not None
    assert len(sizes) == 300
    assert float(sizes[0]) > 1.5 * float(sizes[-1])
    # Half way on, which is between two places, the acceptance is near the wanted one.
    there = DMALA(float(sizes[150]))
    state, total = started(there, target, (200,), seeded()), 0.0
    for step in range(200):
        state, info = there.step(target, state, kernel.betas[150].float(), seeded(step))
        total += float(info.acceptance.mean()) * (step >= 100) / 100
    assert total == pytest.approx(0.574, abs=0.1)


def test_what_cannot_be_annealed_is_refused() -> None:
    tempered = ParallelTempering(Gibbs(), [1.0, 0.5])
    assert "tempered already" in error_message(ValueError, SimulatedAnnealing, tempered, 9)
    annealed = SimulatedAnnealing(Gibbs(), 9)
    assert "SimulatedAnnealing does not" in error_message(ValueError, ParallelTempering, annealed, [1.0, 0.5])
    assert "step_size must be null around Gibbs" in error_message(
        ValueError, SimulatedAnnealing, Gibbs(), 9, step_size=1.0
    )
