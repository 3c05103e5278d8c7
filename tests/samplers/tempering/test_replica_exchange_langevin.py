"""Replica exchange Langevin: each level's distribution by quadrature, moves and swaps by brute force."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from samplers import MALA, ULA, ReplicaExchangeLangevin, State
from samplers.kernel import evaluate
from samplers.tempering.poisson_swaps import PoissonSwaps
from samplers.tempering.swaps.swap_round import REPLICA
from samplers.tempering.tempered_levels import TemperedLevels
from samplers.tuning.tunable import WARNINGS
from targets import GaussianMixture, Target, stmh_two_modes
from tests.support.checks import dkw_band
from tests.support.steps.stepping import ONE, seeded, walked
from tests.support.tunable import tunable

MIXTURE = GaussianMixture(
    [[-1.5, 0.0], [1.5, 0.5]], weights=[0.3, 0.7], covariance=[[0.5, 0.2], [0.2, 0.8]]
).double()
LADDER, SCALE = [1.0, 0.4, 0.0], 2.0


def mreld(kernel: Any = None, **changed: Any) -> ReplicaExchangeLangevin:
    """Three replicas, the hottest at beta = 0 on the Gaussian alone."""
    chosen = {"ladder": LADDER, "step_size": 0.2, "tau": [1.0, 2.0, 5.0], "rho": 3.0, "scale": SCALE}
    return ReplicaExchangeLangevin(kernel or MALA(1.0), **{**chosen, **changed})


def level_log_prob(target: Target, k: int, theta: Tensor) -> Tensor:
    """log pi_k as ReLD's Corollary 2 writes it, up to a constant."""
    tempered = LADDER[k] * target.log_prob(theta)
    return tempered - theta.square().sum(-1) / (2 * SCALE**2) if k == len(LADDER) - 1 else tempered


def statistics(theta: Tensor) -> Tensor:
    """What the distributions are compared by, ``(*batch, 6)``: mean, second moments and energy."""
    x, y = theta.unbind(-1)
    return torch.stack([x, y, x * x, x * y, y * y, MIXTURE.log_prob(theta)], -1)


def run(sampler: ReplicaExchangeLangevin, target: Target, theta: Tensor, steps: int, generator: Any) -> State:
    state = sampler.init(target, theta, ONE)
    state, _ = walked(sampler, target, state, steps, generator, ONE)
    return state


def test_every_replica_follows_its_own_distribution() -> None:
    """6,000 independent chains after 100 steps; 18 statistics within 4 standard errors: 1.2e-3 by chance."""
    generator = seeded(0)
    theta = 2.0 * torch.randn(3, 1, 6_000, 2, dtype=torch.float64, generator=generator)
    state = run(mreld(), MIXTURE, theta, 100, generator)
    line = torch.linspace(-12.0, 12.0, 601, dtype=torch.float64)
    grid = torch.cartesian_prod(line, line)
    for k in range(3):
        weights = level_log_prob(MIXTURE, k, grid).softmax(0)
        seen = statistics(state.theta[k, 0])
        error = seen.mean(0) - weights @ statistics(grid)
        assert float((error / (seen.std(0) / math.sqrt(6_000))).abs().max()) < 4.0


def test_the_adjusted_move_is_in_detailed_balance_at_every_level() -> None:
    sampler, generator = mreld(), seeded(2)
    points = torch.randn(2, 3, 1, 200, 2, dtype=torch.float64, generator=generator)
    states = [evaluate(MIXTURE, theta, gradient=True) for theta in points]
    flows = []
    for here, there in (states, states[::-1]):
        acceptance = sampler.log_acceptance(MIXTURE.space, here, there, ONE)
        for k, tau in enumerate([1.0, 2.0, 5.0]):
            x = here.theta[k].clone().requires_grad_(True)
            density = level_log_prob(MIXTURE, k, x)
            (grad,) = torch.autograd.grad(density.sum(), x)
            step = torch.distributions.Normal(x + 0.2 * tau * grad, math.sqrt(2 * 0.2 * tau))
            flows.append(density + step.log_prob(there.theta[k]).sum(-1) + acceptance[k])
    torch.testing.assert_close(torch.stack(flows[:3]), torch.stack(flows[3:]), atol=1e-12, rtol=1e-12)


def test_the_swap_probability_is_the_papers() -> None:
    levels = TemperedLevels(torch.tensor(LADDER).double(), torch.tensor(SCALE).double())
    theta = torch.randn(3, 1, 50, 2, dtype=torch.float64, generator=seeded(3))
    state = evaluate(MIXTURE, theta, gradient=True)
    ratio = levels.swap_log_ratio(state, ONE)
    for k in range(2):
        x, y = theta[k], theta[k + 1]
        swapped = level_log_prob(MIXTURE, k, y) + level_log_prob(MIXTURE, k + 1, x)
        torch.testing.assert_close(
            ratio[k], swapped - level_log_prob(MIXTURE, k, x) - level_log_prob(MIXTURE, k + 1, y)
        )


@pytest.mark.parametrize("rho", [0.5, 8.0])
def test_a_round_has_the_enumerated_distribution_and_leaves_the_product_invariant(rho: float) -> None:
    """Four points stand for the space: 64 occupations, 8,000 draws of each; 1e-6 (DKW)."""
    levels = TemperedLevels(torch.tensor(LADDER).double(), torch.tensor(SCALE).double())
    swaps = PoissonSwaps(torch.tensor(rho).double(), torch.tensor(0.2).double())
    points = torch.randn(4, 2, dtype=torch.float64, generator=seeded(4))
    density = torch.stack([level_log_prob(MIXTURE, k, points) for k in range(3)])
    places = list(product(range(4), repeat=3))
    matrix = torch.eye(64, dtype=torch.float64)
    for pair in (0, 1):
        sweep = torch.zeros(64, 64, dtype=torch.float64)
        for row, place in enumerate(places):
            x, y = place[pair : pair + 2]
            ratio = density[pair, y] + density[pair + 1, x] - density[pair, x] - density[pair + 1, y]
            chance = (1 - math.exp(-rho * 0.2)) * min(1.0, math.exp(ratio))
            swapped = list(place)
            swapped[pair : pair + 2] = y, x
            sweep[row, places.index(tuple(swapped))] += chance
            sweep[row, row] += 1 - chance
        matrix = matrix @ sweep
    distribution = torch.stack([density.softmax(-1)[range(3), list(place)].prod() for place in places])
    assert float((distribution @ matrix - distribution).abs().max()) < 1e-15

    draws, generator = 8_000, seeded(5)
    start = torch.tensor(places).mT.reshape(3, 64, 1).expand(3, 64, draws)
    theta = points[start]
    # Which point stands where is carried along as the replica's label.
    state = State(theta, MIXTURE.log_prob(theta), aux={REPLICA: start.contiguous()})
    after, info = swaps.round(state, lambda here: levels.swap_log_ratio(here, ONE), generator)
    assert torch.equal(after.theta, points[after.aux[REPLICA]])
    label = (after.aux[REPLICA] * torch.tensor([16, 4, 1]).reshape(3, 1, 1)).sum(0)
    counts = torch.stack([torch.bincount(row, minlength=64) for row in label]).double()
    assert float((counts / draws - matrix).cumsum(-1).abs().max()) < dkw_band(draws, 64) < 0.04
    # 2 x 64 x 8,000 tries at 5 standard deviations: 6e-7.
    rings = 1 - math.exp(-rho * 0.2)
    sd = math.sqrt(rings * (1 - rings) / info.attempted.numel())
    assert abs(float(info.attempted.double().mean()) - rings) < 5 * sd
    assert not bool((info.accepted & ~info.attempted).any())
    first = levels.swap_log_ratio(state, ONE)[0].clamp(max=0.0).exp()
    torch.testing.assert_close(info.probability[0], first)


def test_the_unadjusted_one_has_its_bias_at_its_own_speed_and_says_so() -> None:
    """Without swaps level k is an autoregression of variance v / (1 - h tau_k / 2v); 5.5 sd: 2e-7."""
    target = GaussianMixture([[0.0, 0.0]], covariance=1.0).double()
    sampler = mreld(ULA(1.0), rho=1e-12, ladder=[1.0, 0.5, 0.25], tau=None, scale=1.0)
    assert not sampler.exact
    assert mreld().exact
    generator = seeded(7)
    state = run(sampler, target, torch.zeros(3, 1, 20_000, 2, dtype=torch.float64), 80, generator)
    variance = state.theta.square().mean((1, 2, 3))
    level = 1 / torch.tensor([1.0, 0.5, 1.25], dtype=torch.float64)
    wanted = level / (1 - 0.2 * torch.tensor([1.0, 2.0, 4.0]) / (2 * level))
    assert float((variance / wanted - 1).abs().max()) < 5.5 * math.sqrt(2 / 40_000)


@pytest.mark.parametrize(
    "chosen",
    [
        {"ladder": [1.0, 0.2], "tau": 10.0},
        {"ladder": [1.0, 0.0], "tau": 20.0, "scale": 1.0},
        {"ladder": [1.0, 0.3, 0.1], "scale": 0.3},
    ],
)
def test_an_automatic_step_size_serves_the_slowest_replica(chosen: dict[str, Any]) -> None:
    target = stmh_two_modes(4.0).double()
    sampler = tunable(ReplicaExchangeLangevin, tunable(ULA), **chosen)
    assert sampler.open == ("step_size",)
    tuning = sampler.tune(target, seeded(9))
    found = tuning.hyperparameters
    assert tuning.report["lowest_acceptance"] == 0.574
    assert WARNINGS not in tuning.report
    assert sampler.kernel_at(found).exact is False
    tuned = ReplicaExchangeLangevin(MALA(1.0), step_size=found["step_size"], **chosen)
    generator = seeded(10)
    state, seen = tuned.init(target, target.sample((*tuned.axes, 1, 500), generator), ONE), []
    for _ in range(60):
        state, acceptance = tuned._moved(target, state, ONE, generator)
        seen.append(acceptance.mean((1, 2)))
    mean = torch.stack(seen)[10:].mean(0)
    assert abs(float(mean.min()) - 0.574) < 0.06
    assert float(mean.max()) > 0.574


def test_only_the_slowest_replica_falls_short_and_the_warning_names_the_step_of_all() -> None:
    """At beta=0.001 moves of 100 are accepted more often than asked, which bounds h where tau is 1 / beta."""
    target = stmh_two_modes(4.0).double()
    for tau, words in (
        (1.0, []),
        (None, ["no step size from 1e-07 to 0.1 is", "=0.001: at 0.1 it is 0.99;"]),
    ):
        sampler = tunable(ReplicaExchangeLangevin, MALA(1.0), ladder=[1.0, 0.001], tau=tau)
        report = sampler.tune(target, seeded(11), effort=0.1).report
        said = report.get(WARNINGS, [])
        assert len(said) == (1 if words else 0)
        assert all(word in sentence for sentence in said for word in words)
        assert (report["lowest_acceptance"] > 0.9) == bool(words)
