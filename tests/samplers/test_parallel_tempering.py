"""Parallel tempering: exact on the product space, batched over replicas, inexact rules marked as such."""

from __future__ import annotations

import pytest
import torch

from metrics.enumeration.tempered_transition import (
    ladder_of,
    local_matrices,
    product_distribution,
    round_matrix,
    tempering_matrix,
)
from metrics.enumeration.transition_matrix import invariance_error, stationary, total_variation
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.gibbs import Gibbs
from samplers.kernel import Kernel
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.swaps.swap_pairings import PAIRINGS
from samplers.tempering.swaps.swap_round import Swaps
from samplers.tuning.configured import configured
from targets.randomness import Streams
from targets.spaces import Binary, Ordinal
from tests.support.checks import dkw_band, largest_gap
from tests.support.no_host_sync import NoHostSync
from tests.support.small_targets import random_target

TARGET = random_target(Binary(3), seed=5, roughness=2.0)
LADDERS = {2: [1.0, 0.3], 3: [1.0, 0.5, 0.0]}
ONE = torch.ones((), dtype=torch.float64)


def tempering(kernel: Kernel, replicas: int, swaps: Swaps) -> ParallelTempering:
    step_sizes = None if isinstance(kernel, Gibbs) else [0.5 * 3**k for k in range(replicas)]
    return ParallelTempering(kernel, ladder=LADDERS[replicas], step_size=step_sizes, swap=swaps)


@pytest.mark.parametrize("replicas", [2, 3])
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("intensity", [1.0, 0.4])
@pytest.mark.parametrize("kernel", [DMALA(1.0), Gibbs()], ids=["dmala", "gibbs"])
def test_metropolis_swaps_leave_the_product_invariant(
    kernel: Kernel, intensity: float, pairing: str, replicas: int
) -> None:
    sampler = tempering(kernel, replicas, Swaps("metropolis", pairing, intensity))
    assert sampler.exact
    distribution = product_distribution(TARGET, LADDERS[replicas])
    for turn in (0, 1):
        assert invariance_error(tempering_matrix(sampler, TARGET, turn), distribution) <= 1e-12


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


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("rule", ["metropolis", "history"])
def test_rounds_are_drawn_from_the_enumerated_product_rows(rule: str, pairing: str) -> None:
    target = random_target(Binary(2), seed=5, roughness=2.0)
    sampler = ParallelTempering(
        DMALA(1.0), ladder=LADDERS[3], step_size=[0.5, 1.0, 4.0], swap=Swaps(rule, pairing, 0.8)
    )
    matrix = tempering_matrix(sampler, target)
    states, draws = target.space.states(), 100_000
    counts = torch.zeros_like(matrix)
    generator = torch.Generator().manual_seed(2)
    for row in range(64):
        start = torch.stack([states[row // 16], states[row // 4 % 4], states[row % 4]])
        theta = start.reshape(3, 1, 1, 2).expand(3, 1, draws, 2).contiguous()
        state, _ = sampler.step(target, sampler.init(target, theta, ONE), ONE, generator)
        place = target.space.index(state.theta)[:, 0]
        counts[row] = torch.bincount(place[0] * 16 + place[1] * 4 + place[2], minlength=64)
    assert largest_gap(counts / draws, matrix) <= dkw_band(draws, 64)


def test_shared_uniforms_break_invariance() -> None:
    """settings I, row 8: with one uniform for all pairs, K = 3, n = 4 fails by more than 1e-3.

    Both pairs swap, the first only, or none, by one number u: integrated exactly over u.
    """
    target = random_target(Binary(2), seed=5, roughness=2.0)
    betas = torch.tensor([1.0, 0.5, 0.1], dtype=torch.float64)
    energies = target.log_prob(target.space.states())
    distribution = product_distribution(target, betas.tolist())
    size = 4
    shared = torch.zeros((64, 64), dtype=torch.float64)
    for x in range(64):
        occupant = [x // 16, x // 4 % 4, x % 4]

        def chance(k: int, who: list[int]) -> float:
            gap = (betas[k] - betas[k + 1]) * (energies[who[k + 1]] - energies[who[k]])
            return min(1.0, float(gap.exp()))

        first = chance(0, occupant)
        swapped = [occupant[1], occupant[0], occupant[2]]
        after_swap, after_none = chance(1, swapped), chance(1, occupant)
        both = [swapped[0], swapped[2], swapped[1]]
        second = [occupant[0], occupant[2], occupant[1]]
        for who, mass in (
            (both, min(first, after_swap)),
            (swapped, max(0.0, first - after_swap)),
            (second, max(0.0, after_none - first)),
            (occupant, 1.0 - max(first, after_none)),
        ):
            shared[x, (who[0] * size + who[1]) * size + who[2]] += mass
    torch.testing.assert_close(shared.sum(1), torch.ones(64, dtype=torch.float64))
    assert invariance_error(shared, distribution) > 1e-3
    assert not Swaps(pairing="sequential", shared_uniform=True).exact
    independent = round_matrix(
        target,
        [torch.eye(4, dtype=torch.float64)] * 3,
        ladder_of(ParallelTempering(Gibbs(), ladder=betas.tolist())),
        Swaps(pairing="sequential"),
    )
    assert invariance_error(independent, distribution) < 1e-12


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_seeds_in_one_batch_give_what_each_gives_alone(pairing: str) -> None:
    def run(seeds: list[int]) -> torch.Tensor:
        sampler = tempering(DMALA(1.0), 3, Swaps("metropolis", pairing))
        generator = Streams(seeds, "chain")
        theta = TARGET.initial((3, len(seeds), 5), generator)
        state, draws = sampler.init(TARGET, theta, ONE), []
        for _ in range(30):
            state, _ = sampler.step(TARGET, state, ONE, generator)
            draws.append(sampler.draws(state))
        return torch.stack(draws)

    together = run([4, 9])
    assert torch.equal(together[:, 0], run([4])[:, 0])
    assert torch.equal(together[:, 1], run([9])[:, 0])
    assert not torch.equal(together[:, 0], together[:, 1])


def test_a_swap_moves_everything_that_belongs_to_theta() -> None:
    sampler = tempering(DMALA(1.0), 3, Swaps("metropolis", "sequential"))
    generator = torch.Generator().manual_seed(0)
    state = sampler.init(TARGET, TARGET.initial((3, 1, 50), generator), ONE)
    for _ in range(30):
        state, info = sampler.step(TARGET, state, ONE, generator)
        assert info.swap is not None
        assert (info.swap.replica.sort(0).values == torch.arange(3).reshape(3, 1, 1)).all()
    log_prob, grad = TARGET.log_prob_and_grad(state.theta)
    torch.testing.assert_close(state.log_prob, log_prob)
    torch.testing.assert_close(state.grad, grad)
    assert info.evaluations == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"ladder": [1.0]}, "at least two"),
        ({"ladder": [0.9, 0.5]}, "from 1"),
        ({"ladder": [1.0, 0.5, 0.5]}, "strictly"),
        ({"ladder": [1.0, 1.5]}, r"\[0, 1\]"),
        ({"ladder": [1.0, -0.1]}, r"\[0, 1\]"),
        ({"ladder": [1.0, float("nan")]}, r"\[0, 1\]"),
        ({"ladder": "geometricc"}, "'auto'"),
        ({"ladder": [1.0, 0.5], "replicas": 3}, "replicas=3"),
        ({"replicas": 1}, "at least 2"),
        ({"replicas": 2.5}, "whole number"),
        ({"ladder": [1.0, 0.5], "step_size": [1.0]}, "one number for each rung"),
        ({"step_size": 0.0}, "positive"),
        ({"step_size": "big"}, "positive"),
        ({"replicas_formula": "v3"}, "v1"),
    ],
)
def test_bad_ladders_are_refused_in_one_sentence(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        configured(ParallelTempering, DMALA(1.0), **arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rule": "metropolys"}, "did you mean 'metropolis'"),
        ({"pairing": "odd"}, "odd_even"),
        ({"intensity": 1.5}, "from 0 to 1"),
        ({"rule": "released"}, "sequential"),
    ],
)
def test_bad_swaps_are_refused_in_one_sentence(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Swaps(**arguments)  # type: ignore[arg-type]


def test_the_corrected_rule_needs_a_minibatch_target() -> None:
    sampler = ParallelTempering(DMALA(1.0), ladder=[1.0, 0.5], step_size=1.0, swap=Swaps("corrected"))
    with pytest.raises(ValueError, match="minibatch"):
        sampler.init(TARGET, torch.zeros((2, 1, 1, 3), dtype=torch.float64), ONE)


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("rule", ["metropolis", "history", "v1_literal", "released"])
def test_a_round_never_leaves_the_device(rule: str, pairing: str) -> None:
    if rule == "released" and pairing != "sequential":
        pytest.skip("the released rule is sequential")
    sampler = tempering(DMALA(1.0), 3, Swaps(rule, pairing))
    generator = Streams([0, 1], "chain")
    state = sampler.init(TARGET, TARGET.initial((3, 2, 4), generator), ONE)
    with NoHostSync():
        for _ in range(5):
            state, _ = sampler.step(TARGET, state, ONE, generator)


def test_prepared_tempering_takes_the_same_steps() -> None:
    target = random_target(Ordinal(2, 5), seed=3)
    sampler = tempering(DMALA(1.0), 3, Swaps("metropolis", "sequential"))
    ends = []
    for kernel in (sampler, sampler.prepared(target, ONE)):
        generator = Streams([0, 1], "chain")
        state = kernel.init(target, target.initial((3, 2, 50), generator), ONE)
        for _ in range(20):
            state, _ = kernel.step(target, state, ONE, generator)
        ends.append(state.theta)
    assert torch.equal(*ends)


@pytest.mark.parametrize("kernel", [DMALA(1.0), DULA(1.0, norm=1.0), DULA(1.0, balancing=0.8), Gibbs()])
def test_history_exact_is_refused_where_its_flow_is_another(kernel: Kernel) -> None:
    with pytest.raises(ValueError, match="history_exact holds for unadjusted Langevin moves"):
        ParallelTempering(kernel, [1.0, 0.5], swap=Swaps("history_exact"))
