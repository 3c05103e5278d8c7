"""MMD by shared random features and in closed form, against sums over all pairs of points."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor

from metrics.discrepancy.mmd import MMD, MMDExact, kernel_bandwidth, level_coordinates
from samplers.reference.reference_draws import ExactDraws
from targets import Bernoulli4, Binary, Categorical, MixtureOfGaussians, Ordinal, Target
from tests.support.measuring import context, counted, measure, random_draws
from tests.support.steps.stepping import seeded
from tests.support.targets.modes import corners
from tests.support.targets.small_targets import random_target

TARGETS = {
    "ordinal": corners(),
    "bernoulli4": Bernoulli4(),
    "categorical": random_target(Categorical(2, 3)),
    "ordinal, three coordinates": random_target(Ordinal(3, 4)),
}


def points(target: Target, theta: Tensor) -> Tensor:
    """States as points of the kernel: u on ordinal spaces, the state itself elsewhere, ``(n, axes)``."""
    flat = theta.double().reshape(-1, math.prod(target.space.event_shape))
    return 3 * flat / (target.space.levels - 1) - 1.5 if isinstance(target.space, Ordinal) else flat


def all_pairs(target: Target, draws: Tensor, sigma: float) -> float:
    """MMD^2 of draws and target: each draw has weight 1 / n, each state its probability, all pairs summed."""
    where = torch.cat([points(target, draws), points(target, target.space.states())])
    weights = torch.cat([torch.full((len(where) - target.space.size,), 1.0), -target.probabilities()])
    weights[: -target.space.size] /= len(where) - target.space.size
    squares = (where.unsqueeze(1) - where).square().sum(-1)
    return float((weights.unsqueeze(1) * torch.exp(-squares / (2 * sigma**2)) * weights).sum())


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("sigma", [None, 0.7])
def test_closed_form_equals_all_pairs(target: Target, sigma: float | None) -> None:
    draws = random_draws(target, steps=9, seeds=2, chains=5)
    metric = partial(MMDExact, bandwidth=sigma)
    values = measure(context(target, 2, 5), [metric], draws).result()["mmd_exact"]
    for seed in range(2):
        expected = all_pairs(target, draws[:, seed], kernel_bandwidth(target.space, sigma))
        assert values[seed].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_the_expectation_of_independent_draws_is_their_mean(target: Target) -> None:
    """4,000 sets of 12 draws: within 5 standard errors, 6e-7. Other kernels have no such value."""
    draws = torch.multinomial(target.probabilities(), 48_000, replacement=True, generator=seeded(4))
    theta = target.space.states()[draws].reshape(3, 4_000, 4, *target.space.event_shape)
    run = replace(context(target, 4_000, 4), kernel=ExactDraws())
    result = measure(run, [MMDExact], theta).result()
    values, known = result["mmd_exact"], result["mmd_exact_expected"]
    assert known.unique().numel() == 1
    error = float(values.std()) / math.sqrt(4_000)
    assert abs(float(values.mean() - known[0])) <= 5.0 * error < 0.1 * float(known[0])
    assert "mmd_exact_expected" not in measure(context(target, 1, 4), [MMDExact], theta[:, :1]).result()


def test_closed_form_equals_all_pairs_on_the_grid_of_the_papers() -> None:
    target = MixtureOfGaussians(4)
    draws = random_draws(target, steps=2, seeds=1, chains=10)
    value = measure(context(target, 1, 10), [MMDExact], draws).result()["mmd_exact"].item()
    sample, pi = points(target, draws), target.probabilities()
    inner = torch.exp(-(sample.unsqueeze(1) - sample).square().sum(-1) / (2 * 0.25**2)).mean()
    distances = torch.cdist(sample, points(target, target.space.states()))
    cross = (torch.exp(-distances.square() / (2 * 0.25**2)) @ pi).mean()
    u = torch.linspace(-1.5, 1.5, 101, dtype=torch.float64)
    one = torch.exp(-(u.unsqueeze(1) - u).square() / (2 * 0.25**2))
    own = (pi.reshape(101, 101) * (one @ pi.reshape(101, 101) @ one)).sum()
    assert value == pytest.approx(float(inner - 2 * cross + own), abs=1e-10)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_features_equal_their_definition(target: Target) -> None:
    """phi(u) = sqrt(2 / D) cos(W u + b) draw by draw, with the W and b of the same generator."""
    draws, sigma = random_draws(target, steps=9, seeds=2, chains=5), kernel_bandwidth(target.space)
    run = context(target, 2, 5)
    values = measure(run, [partial(MMD, features=50)], draws).result()["mmd"]
    generator, axes = run.generator("mmd"), math.prod(target.space.event_shape)
    frequency = torch.randn((50, axes), generator=generator, dtype=torch.float64) / sigma
    phase = 2 * math.pi * torch.rand(50, generator=generator, dtype=torch.float64)

    def phi(u: Tensor) -> Tensor:
        return math.sqrt(2 / 50) * torch.cos(u @ frequency.T + phase)

    expected = target.probabilities() @ phi(points(target, target.space.states()))
    for seed in range(2):
        gap = phi(points(target, draws[:, seed])).mean(0) - expected
        assert values[seed].item() == pytest.approx(gap.square().sum().item(), abs=1e-12)


def test_features_in_parts_equal_features_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    target = TARGETS["ordinal, three coordinates"]
    draws = random_draws(target, steps=3, seeds=1, chains=5)
    whole = measure(context(target, 1, 5), [MMD], draws).result()["mmd"]
    monkeypatch.setattr("metrics.discrepancy.mmd.CELLS", 16 * 7)
    parts = measure(context(target, 1, 5), [MMD], draws).result()["mmd"]
    torch.testing.assert_close(parts, whole, rtol=1e-12, atol=0)


def test_both_are_zero_on_the_target_itself() -> None:
    target = corners()
    target.table.copy_(torch.arange(1, 26).double().log())  # probabilities n / 325
    counts = torch.arange(1, 26).unsqueeze(0)
    result = counted(context(target, 1, 325), [MMD, MMDExact], counts).result()
    assert result["mmd"].item() < 1e-28
    assert 0.0 <= result["mmd_exact"].item() < 1e-28


def test_the_grid_coordinate_is_the_mixtures() -> None:
    u = level_coordinates(Ordinal(2, 101)).squeeze(-1)
    torch.testing.assert_close(u, 3 * torch.arange(101, dtype=torch.float64) / 100 - 1.5)
    assert kernel_bandwidth(Ordinal(2, 101)) == 0.25
    assert kernel_bandwidth(Binary(4)) == pytest.approx(math.sqrt(2))
    assert kernel_bandwidth(Categorical(3, 4)) == pytest.approx(math.sqrt(2 * 3 * 3 / 4))
