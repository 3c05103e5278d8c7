"""Population annealing: resampling, estimates of log Z and families against exact values."""

from __future__ import annotations

import math

import pytest
import torch

from metrics.likelihood.ais_schedule import schedule
from metrics.likelihood.importance_weights import log_mean_weight
from metrics.likelihood.population_annealing import PopulationAnnealing, mean_square_family
from metrics.likelihood.systematic_resampling import systematic
from metrics.likelihood.target_annealing import TargetAnnealing
from metrics.likelihood.target_log_partition import exact_log_partition
from metrics.metric import by_seed
from samplers import DMALA, Gibbs, Kernel
from targets import Binary, Categorical, Streams, Target
from targets.reference_distribution import reference_distribution
from tests.support.steps.counting_walk import CountingWalk, require_counted
from tests.support.steps.stepping import seeded
from tests.support.targets.small_targets import random_target

TARGETS: dict[str, Target] = {
    "binary": random_target(Binary(8), seed=1, roughness=2.0),
    "categorical": random_target(Categorical(4, 3), seed=2, roughness=1.5),
}
KERNELS: dict[str, Kernel] = {"gibbs": Gibbs(), "dmala": DMALA(0.5), "systematic": Gibbs("systematic")}


def annealing(
    name: str, kernel: Kernel, betas: torch.Tensor, seeds: int, chains: int, threshold: float = 1.0
):
    target, streams = TARGETS[name], Streams(range(seeds), "population")
    start = reference_distribution(target).draws((seeds, chains), streams, like=target.like())
    return PopulationAnnealing(target, kernel, betas, start, streams, threshold)


def test_systematic_resampling_copies_in_proportion() -> None:
    """Each member floor(n w) or ceil(n w) times, n w on average: 4 standard errors at 5,000 repeats."""
    log_weights = torch.tensor([0.3, -1.2, 2.0, 0.0, -30.0, 1.1], dtype=torch.float64)
    wanted = 6 * log_weights.softmax(-1)
    chosen = systematic(log_weights.expand(5000, 6), seeded())
    assert bool((chosen.diff(dim=-1) >= 0).all())
    counts = torch.zeros(5000, 6).scatter_add(-1, chosen, torch.ones(5000, 6)).double()
    assert bool(((counts >= wanted.floor()) & (counts <= wanted.ceil())).all())
    error = (wanted - wanted.floor()) * (wanted.ceil() - wanted)
    assert bool(((counts.mean(0) - wanted).abs() <= 4 * (error / 5000).sqrt() + 1e-9).all())
    assert systematic(torch.zeros(3, 7, dtype=torch.float64), seeded()).tolist() == [list(range(7))] * 3


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", TARGETS)
def test_log_z_is_the_exact_one(name: str, kernel: str) -> None:
    """The mean of 60 unbiased estimates of Z over Z, within 5 of its standard errors."""
    walk = annealing(name, KERNELS[kernel], schedule(80), seeds=60, chains=100)
    walk.advance(walk.steps)
    exact = exact_log_partition(TARGETS[name])
    ratios = (walk.log_partition() - exact).exp()
    error = float(ratios.std() / math.sqrt(60))
    assert error < 0.05
    assert abs(float(ratios.mean()) - 1) <= 5 * error


def test_members_are_draws_of_the_target_at_the_end() -> None:
    """Means of U under the population's weights, within 5 standard errors over populations."""
    target = TARGETS["binary"]
    walk = annealing("binary", Gibbs(), schedule(40), seeds=40, chains=100)
    walk.advance(walk.steps)
    shares = walk.log_weights.softmax(-1)
    means = (shares * target.log_prob(walk.theta)).sum(-1)
    states = target.space.states()
    exact = float((target.probabilities() * target.log_prob(states)).sum())
    assert abs(float(means.mean()) - exact) <= 5 * float(means.std() / math.sqrt(40))
    assert float(means.std()) < 0.5


def test_a_whole_number_of_a_member_is_copied_with_it() -> None:
    walk = annealing("binary", CountingWalk(), schedule(10), seeds=2, chains=20)
    walk.advance(walk.steps)
    require_counted(walk.state)


def test_families_are_counted_and_start_from_the_founders() -> None:
    walk = annealing("binary", Gibbs(), schedule(30), seeds=3, chains=20)
    assert mean_square_family(walk.family_sizes()).tolist() == pytest.approx([1.0] * 3)
    walk.advance(walk.steps)
    sizes, shares = walk.family_sizes(), walk.log_weights.softmax(-1)
    for seed in range(3):
        for founder in range(20):
            members = [c for c in range(20) if int(walk.family[seed, c]) == founder]
            assert float(sizes[seed, founder]) == pytest.approx(sum(float(shares[seed, c]) for c in members))
    assert bool((mean_square_family(sizes) > 1.0).all())
    assert bool((mean_square_family(sizes) <= 20.0).all())


def test_without_resampling_it_is_annealed_importance_sampling() -> None:
    target, betas = TARGETS["binary"], schedule(9)
    walk = annealing("binary", DMALA(0.5), betas, seeds=2, chains=15, threshold=0.0)
    streams = Streams(range(2), "population")
    start = reference_distribution(target).draws((2, 15), streams, like=target.like())
    plain = TargetAnnealing(target, DMALA(0.5), betas, start, streams)
    plain.advance(1)
    walk.advance(1)
    torch.testing.assert_close(walk.log_weights, plain.log_weights)
    walk.advance(8)
    assert walk.family.tolist() == [list(range(15))] * 2
    means = by_seed(lambda row: torch.tensor(log_mean_weight(row).value), walk.log_weights)
    torch.testing.assert_close(walk.log_partition(), means.double())


def test_a_population_that_was_interrupted_goes_on_with_the_same_bits() -> None:
    whole, first, second = (annealing("categorical", Gibbs(), schedule(10), 2, 12, 0.9) for _ in range(3))
    whole.advance(10)
    first.advance(4)
    second.load_state_dict(first.state_dict())
    second.advance(6)
    assert torch.equal(whole.log_partition(), second.log_partition())
    assert torch.equal(whole.family, second.family)
    assert torch.equal(whole.theta, second.theta)
