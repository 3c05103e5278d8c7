"""Parallel tempering: exact on the product space, batched over replicas, inexact rules marked as such."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from metrics.enumeration.tempered_transition import (
    ladder_of,
    local_matrices,
    product_distribution,
    tempering_matrix,
)
from metrics.enumeration.transition_matrix import invariance_error, stationary, total_variation
from runner.tools.exactness.small_tours import SmallTours
from samplers import (
    DMALA,
    DULA,
    ULA,
    Gibbs,
    Kernel,
    ParallelTempering,
    RBMGibbs,
    SimulatedAnnealing,
    SimulatedTempering,
    Swaps,
    TourSwap,
)
from samplers.tempering.swaps.swap_pairings import PAIRINGS
from samplers.tempering.swaps.swap_round import SwapMemory
from samplers.tempering.swaps.swap_rules import Rungs
from targets import Binary, Ordinal, Streams, Target
from targets.randomness import uniform
from tests.support.checks import dkw_band, largest_gap
from tests.support.steps.stepping import ONE, seeded, started, walked
from tests.support.targets.small_targets import random_target, small_rbm

TARGET = random_target(Binary(3), seed=5, roughness=2.0)
LADDERS = {2: [1.0, 0.3], 3: [1.0, 0.5, 0.0]}


def tempering(kernel: Kernel, replicas: int, swaps: Swaps) -> ParallelTempering:
    step_sizes = [0.5 * 3**k for k in range(replicas)] if isinstance(kernel, DMALA) else None
    return ParallelTempering(kernel, ladder=LADDERS[replicas], step_size=step_sizes, swap=swaps)


PRODUCTS: dict[str, tuple[Kernel, Target]] = {
    "dmala": (DMALA(1.0), TARGET),
    "gibbs": (Gibbs(), TARGET),
    "rbm_gibbs": (RBMGibbs(), small_rbm(3, 4)),
    "tour_swap": (TourSwap(), SmallTours(3)),
}


@pytest.mark.parametrize("replicas", [2, 3])
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_metropolis_swaps_leave_the_product_invariant(name: str, pairing: str, replicas: int) -> None:
    kernel, target = PRODUCTS[name]
    sampler = tempering(kernel, replicas, Swaps("metropolis", pairing, 0.4 if replicas == 3 else 1.0))
    assert sampler.exact
    distribution = product_distribution(target, LADDERS[replicas])
    for turn in (0, 1):
        assert invariance_error(tempering_matrix(sampler, target, turn), distribution) <= 1e-12


@pytest.mark.parametrize("rule", ["history", "v1_literal"])
def test_printed_rules_are_not_exact_and_say_so(rule: str) -> None:
    sampler = tempering(DMALA(1.0), 2, Swaps(rule, "sequential"))
    assert not sampler.exact
    own = stationary(tempering_matrix(sampler, TARGET)).reshape(8, 8).sum(1)
    assert total_variation(own, TARGET.probabilities()) > 0.01


@pytest.mark.parametrize("step_sizes", [[1.0, 1.0], [0.5, 2.0]])
def test_history_exact_is_reversible_where_the_printed_history_rule_is_not(step_sizes: list[float]) -> None:
    """settings I, reading 4: detailed balance for the biased distributions pi_alpha, 8-state pair."""
    broken = {}
    for rule in ("history_exact", "history"):
        sampler = ParallelTempering(
            DULA(1.0), ladder=[1.0, 0.3], step_size=step_sizes, swap=Swaps(rule, "sequential")
        )
        cold, hot = (stationary(matrix) for matrix in local_matrices(TARGET, ladder_of(sampler)))
        flow = torch.outer(cold, hot).flatten().unsqueeze(1) * tempering_matrix(sampler, TARGET)
        broken[rule] = float((flow - flow.T).abs().max())
    assert broken["history_exact"] < 1e-12
    assert broken["history"] > 1e-3


@pytest.mark.parametrize(
    ("rule", "pairing", "kernel"),
    [
        *(("metropolis", pairing, DMALA(1.0)) for pairing in PAIRINGS),
        ("history", "sequential", DMALA(1.0)),
        ("history_exact", "odd_even", DULA(1.0)),
        ("v1_literal", "stochastic", DMALA(1.0)),
    ],
)
def test_rounds_are_drawn_from_the_enumerated_product_rows(rule: str, pairing: str, kernel: Kernel) -> None:
    """8,000 draws of each of 64 rows; false alarm 1e-6 (DKW)."""
    target, draws = random_target(Binary(2), seed=5, roughness=2.0), 8_000
    swaps = Swaps(rule, pairing, 0.8)
    sampler = ParallelTempering(kernel, ladder=LADDERS[3], step_size=[0.5, 1.0, 4.0], swap=swaps)
    matrix = tempering_matrix(sampler, target)
    place = torch.stack([torch.arange(64) // 16, torch.arange(64) // 4 % 4, torch.arange(64) % 4])
    theta = target.space.states()[place].unsqueeze(2).expand(3, 64, draws, 2).contiguous()
    state, _ = sampler.step(target, sampler.init(target, theta, ONE), ONE, seeded(2))
    ends = target.space.index(state.theta)
    rows = ends[0] * 16 + ends[1] * 4 + ends[2] + 64 * torch.arange(64).unsqueeze(-1)
    counts = torch.bincount(rows.flatten(), minlength=64 * 64).reshape(64, 64)
    assert largest_gap(counts / draws, matrix) <= dkw_band(draws, 64)


def test_one_uniform_number_serves_all_pairs_of_a_sweep_where_it_is_shared() -> None:
    """settings I, row 8. All energies are equal: a pair swaps if its number is below the intensity."""
    flat = random_target(Binary(3), roughness=0.0)
    for shared in (False, True):
        swaps = Swaps(pairing="sequential", intensity=0.5, shared_uniform=shared)
        assert swaps.exact is not shared
        sampler = ParallelTempering(Gibbs(), LADDERS[3], swap=swaps)
        _, info = walked(sampler, flat, started(sampler, flat, (500,), seeded()), 1, seeded(1))
        assert bool((info.swap.accepted[0] == info.swap.accepted[1]).all()) is shared
        assert 0.4 < float(info.swap.accepted.double().mean()) < 0.6


def test_released_swaps_use_the_energies_of_the_sweep_before() -> None:
    """By hand: from pair to pair, each adds the energies that its rungs had a sweep ago."""
    sampler = ParallelTempering(Gibbs(), LADDERS[3], swap=Swaps("released", "sequential"))
    state = started(sampler, TARGET, (200,), seeded())
    energies, kept = TARGET.log_prob(TARGET.initial((3, 200), seeded(1))), state.log_prob.clone()
    ladder = Rungs(torch.tensor(LADDERS[3], dtype=torch.float64).reshape(3, 1))
    moved = replace(state, log_prob=energies)
    after, swap, memory = sampler.swaps.round(TARGET, state, moved, ladder, SwapMemory.of(state), seeded(3))
    chance, here = uniform(seeded(3), (2, 200), like=energies), energies.clone()
    for k in (0, 1):
        stale = here[k : k + 2] + kept[k : k + 2]
        ratio = -(ladder.betas[k] - ladder.betas[k + 1]) * (stale[1] - stale[0])
        kept[k : k + 2] = here[k : k + 2]
        swapped = chance[k] < ratio.clamp(max=0.0).exp()
        assert torch.equal(swap.accepted[k], swapped)
        here[k : k + 2] = torch.where(swapped, here[k : k + 2].flip(0), here[k : k + 2])
    assert torch.equal(after.log_prob, here)
    assert torch.equal(memory.memory, kept)
    assert memory.turn == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rule": "metropolys"}, "did you mean 'metropolis'"),
        ({"pairing": "odd"}, "odd_even"),
        ({"intensity": 1.5}, "from 0 to 1"),
        ({"shared_uniform": 1}, "true or false, 1 was given"),
        ({"rule": "released"}, "sequential"),
    ],
)
def test_bad_swaps_are_refused_in_one_sentence(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Swaps(**arguments)  # type: ignore[arg-type]


def test_the_corrected_rule_needs_a_minibatch_target() -> None:
    sampler = ParallelTempering(DMALA(1.0), ladder=[1.0, 0.5], step_size=1.0, swap=Swaps("corrected"))
    for refused in (sampler.check, lambda target: started(sampler, target, (1,), seeded())):
        with pytest.raises(ValueError, match="minibatch"):
            refused(TARGET)


def test_what_is_kept_from_step_to_step_follows_beta_and_the_copy() -> None:
    """The ladder at beta and the rung kernels are laid out once; a copy and another beta have their own."""
    sampler, beta = tempering(DMALA(1.0), 3, Swaps()), ONE.clone()
    state = started(sampler, TARGET, (40,), seeded())

    def step(kernel: ParallelTempering, beta: torch.Tensor) -> torch.Tensor:
        after, info = kernel.step(TARGET, state, beta, seeded(1))
        return torch.cat([info.acceptance, info.swap.probability.flatten(), after.theta.flatten()])

    cold = step(sampler, beta)
    assert torch.equal(step(sampler, beta), cold)
    assert torch.equal(step(copy.deepcopy(sampler), beta), cold)
    hot = step(tempering(DMALA(1.0), 3, Swaps()), 0.5 * ONE)
    assert not torch.equal(hot, cold)
    # Changed in place, it is the same object.
    assert torch.equal(step(sampler, beta.mul_(0.5)), hot)
    rounded = sampler.to(torch.zeros((), dtype=torch.float32))
    assert rounded.betas.dtype == rounded.step_sizes.dtype == torch.float32
    single = random_target(Binary(3), seed=5, roughness=2.0).float()
    after, info = walked(rounded, single, started(rounded, single, (40,), seeded()), 2, seeded())
    assert after.theta.dtype == info.acceptance.dtype == torch.float32
    assert sampler.betas.dtype == torch.float64
    # One that was not converted follows the states.
    after, info = walked(sampler, single, started(sampler, single, (40,), seeded()), 2, seeded())
    assert after.theta.dtype == after.log_prob.dtype == info.acceptance.dtype == torch.float32
    assert [sampler.rungs.rung(k).step_size.item() for k in range(3)] == [0.5, 1.5, 4.5]


def test_prepared_tempering_takes_the_same_steps() -> None:
    target = random_target(Ordinal(2, 5), seed=3)
    sampler = tempering(DMALA(1.0), 3, Swaps("metropolis", "sequential"))
    ends = []
    for kernel in (sampler, sampler.prepared(target, ONE)):
        generator = Streams([0, 1], "chain")
        state, _ = walked(kernel, target, started(kernel, target, (2, 50), generator), 20, generator)
        ends.append(state.theta)
    assert torch.equal(*ends)


@pytest.mark.parametrize(
    "kernel", [DMALA(1.0), DULA(1.0, norm=1.0), DULA(1.0, balancing=0.8), Gibbs(), ULA(1.0)]
)
def test_history_exact_is_refused_where_its_flow_is_another(kernel: Kernel) -> None:
    with pytest.raises(ValueError, match="holds for unadjusted Langevin moves on discrete spaces"):
        ParallelTempering(kernel, [1.0, 0.5], swap=Swaps("history_exact"))


@pytest.mark.parametrize(
    ("given", "said"), [("metropolis", "'metropolis'"), (Swaps, "the class Swaps itself")]
)
def test_swaps_that_are_none_are_refused(given: Any, said: str) -> None:
    with pytest.raises(TypeError, match=rf"swap must be a samplers.Swaps such as .*, {said} was given"):
        ParallelTempering(DMALA(1.0), [1.0, 0.5], swap=given)


@pytest.mark.parametrize("tempered", [ParallelTempering, SimulatedTempering, SimulatedAnnealing])
def test_step_sizes_may_be_an_array(tempered: type[Kernel]) -> None:
    sizes = np.array([0.1, 0.2])
    given: dict[type[Kernel], tuple[object, ...]] = {
        ParallelTempering: ([1.0, 0.5],),
        SimulatedTempering: ([1.0, 0.5], [0.0, 0.0]),
        SimulatedAnnealing: (2,),
    }
    found = tempered(DMALA(0.3), *given[tempered], step_size=sizes)  # type: ignore[call-arg]
    assert found.step_sizes.tolist() == pytest.approx(sizes)  # type: ignore[attr-defined]
