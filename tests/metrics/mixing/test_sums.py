"""Metrics that sum over steps: acceptance, jumps, swaps, barrier and distance to theta_a, against loops."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from metrics import Acceptance, AuxiliaryDistance, Barrier, Context, Jump, MetricSuite, SwapRate
from samplers import EDMALA, EDMALAGLU, Info, Kernel, ParallelTempering
from samplers.proposals.entropic_langevin import THETA_A
from targets.randomness import Streams
from tests.support.measuring import context, measure, noisy_infos, random_draws, silent
from tests.support.steps.stepping import ONE
from tests.support.targets.modes import corners
from tests.support.targets.small_targets import SPACES, random_target


def test_means_rates_and_barrier_equal_the_loops() -> None:
    target, infos = corners(), noisy_infos(steps=9, seeds=2, chains=3, replicas=4)
    metrics = [Acceptance, Jump, SwapRate, Barrier]
    result = measure(context(target, 2, 3, 4), metrics, random_draws(target, 9, 2, 3), infos).result()
    swaps = [info.swap for info in infos if info.swap is not None]
    for seed in range(2):
        means = [
            sum(float(swap.probability[pair, seed, chain]) for swap in swaps for chain in range(3)) / 27
            for pair in range(3)
        ]
        met = sum(int(swap.attempted[:, seed].sum()) for swap in swaps)
        swapped = sum(int(swap.accepted[:, seed].sum()) for swap in swaps)
        expected = {
            "acceptance": sum(float(p) for info in infos for p in info.acceptance[seed]) / 27,
            "jump": sum(float(jump) for info in infos for jump in info.jump[seed]) / 27,
            "swap_rate": sum(means) / 3,
            "swap_rate_min": min(means),
            "swap_accepted": swapped / met,
            "barrier": 3 - sum(means),
        }
        found = {name: value[seed].item() for name, value in result.items()}
        assert found == pytest.approx(expected, abs=1e-12)


def test_sums_of_single_precision_reports_do_not_stall() -> None:
    """In float32 the sum would stop growing at 2^24; here each of 4 reports weighs what it should."""
    big = Info(torch.full((1, 1), 2.0**25), torch.full((1, 1), 2.0**25), 1)
    small = Info(torch.ones(1, 1), torch.ones(1, 1), 1)
    draws = random_draws(corners(), 4, 1, 1)
    result = measure(context(corners()), [Jump, Acceptance], draws, [big, small, small, small]).result()
    assert result["jump"].item() == result["acceptance"].item() == (2.0**25 + 3) / 4


def test_a_nan_stays_visible_in_its_own_seed() -> None:
    target, (info,) = corners(), noisy_infos(steps=1, seeds=2, chains=3)
    info.acceptance[1, 2] = math.nan
    result = measure(context(target, 2, 3), [Acceptance], random_draws(target, 1, 2, 3), [info]).result()
    assert result["acceptance"].isnan().tolist() == [False, True]


def test_steps_without_a_round_and_rounds_without_a_meeting() -> None:
    target, infos = corners(), noisy_infos(steps=4, seeds=1, chains=3, replicas=3)
    draws, metrics = random_draws(target, 8, 1, 3), [SwapRate, Barrier]
    mixed = [report for info in infos for report in (info, silent(1, 3))]
    every = measure(context(target, 1, 3, 3), metrics, draws[:4], infos).result()
    sparse = measure(context(target, 1, 3, 3), metrics, draws, mixed).result()
    assert all(torch.equal(every[name], sparse[name]) for name in every)
    never = [replace(i, swap=replace(i.swap, attempted=torch.zeros_like(i.swap.attempted))) for i in infos]
    result = measure(context(target, 1, 3, 3), metrics, draws[:4], never).result()
    assert result["swap_accepted"].item() == 0.0


def distances(kernel: Kernel, space: str) -> tuple[list[float], list[float]]:
    """The mean distance of each seed to theta_a: of the metric, and by hand."""
    target, streams = random_target(SPACES[space], seed=3), Streams(range(2), "test")
    run = Context(target, kernel, 2, 3, torch.device("cpu"))
    suite = MetricSuite(run, {"auxiliary_distance": AuxiliaryDistance})
    state = kernel.init(target, target.initial((*kernel.axes, 2, 3), streams), ONE)
    seen: list[list[float]] = [[], []]
    for step in range(7):
        state, info = kernel.step(target, state, ONE, streams)
        theta = kernel.draws(state)
        suite.update(step, theta, info)
        theta_a = state.aux[THETA_A][0] if kernel.axes else state.aux[THETA_A]
        for seed in range(2):
            for chain in range(3):
                pairs = zip(theta[seed, chain].flatten(), theta_a[seed, chain].flatten(), strict=True)
                seen[seed].append(math.sqrt(sum(float(a - b) ** 2 for a, b in pairs)))
    return suite.result()["auxiliary_distance"].tolist(), [sum(of_seed) / len(of_seed) for of_seed in seen]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("replicas", [0, 2])
def test_the_auxiliary_distance_is_its_mean_over_steps_and_chains(space: str, replicas: int) -> None:
    kernel: Kernel = EDMALA(1.0, 0.7, 0.3)
    if replicas:
        kernel = ParallelTempering(kernel, ladder=[1.0, 0.5], step_size=1.0)
    found, by_hand = distances(kernel, space)
    assert found == pytest.approx(by_hand)


def test_under_the_glu_update_the_distance_is_about_the_root_of_eta_d() -> None:
    """theta_a is drawn before theta moves, so that |theta - theta_a|^2 is eta d plus what the move adds."""
    found, _ = distances(EDMALAGLU(0.02, 4.0), "binary")
    assert 0.5 * math.sqrt(12) < sum(found) / 2 < 1.5 * math.sqrt(12)
