from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
import torch
from torch import Tensor

from targets import Binary, MinibatchLogistic, Streams
from targets.synthetic.minibatch import signed_covariates

TINY = {"d": 3, "data": 6, "minibatch": 3, "scale": 1.5, "data_seed": 1}


def terms(theta: Tensor) -> list[float]:
    """Log likelihood of each of the tiny model's data points, by the scalar formula."""
    weights = [2 * value - 1 for value in theta.tolist()]
    logits = [
        math.fsum(w * z for w, z in zip(weights, row, strict=True))
        for row in signed_covariates(3, 6, 1.5, 1).tolist()
    ]
    return [-math.log1p(math.exp(-logit)) for logit in logits]


def estimates(theta: Tensor, minibatch: int) -> list[float]:
    """The estimate from every subset of the tiny model's data."""
    return [6 / minibatch * math.fsum(subset) for subset in itertools.combinations(terms(theta), minibatch)]


@pytest.mark.parametrize("minibatch", [1, 2, 3, 5, 6])
def test_estimates_are_unbiased_with_the_stated_variance_over_all_subsets(minibatch: int) -> None:
    target = MinibatchLogistic(**{**TINY, "minibatch": minibatch})
    for theta in target.space.states():
        values = estimates(theta, minibatch)
        assert math.isclose(statistics.fmean(values), target.log_prob(theta).item(), rel_tol=1e-13)
        variance = target.noise_variance(theta).item()
        assert math.isclose(statistics.pvariance(values), variance, rel_tol=1e-12, abs_tol=1e-12)


def test_draws_are_the_estimates_of_all_subsets_equally_often() -> None:
    """Frequencies of the 20 subsets in every state, DKW band at a false alarm of 1e-6 in all."""
    target = MinibatchLogistic(**TINY)
    states = target.space.states()
    draws = 200_000
    theta = states.unsqueeze(1).expand(8, draws, 3)
    noisy = target.noisy_log_prob(theta, torch.Generator().manual_seed(3))
    band = math.sqrt(math.log(2 * 8 / 1e-6) / (2 * draws))
    for state, row in zip(states, noisy, strict=True):
        values = torch.tensor(estimates(state, 3), dtype=torch.float64).sort().values
        distance, nearest = (row.unsqueeze(-1) - values).abs().min(-1)
        assert distance.max() < 1e-12
        frequencies = torch.bincount(nearest, minlength=20) / draws
        assert (frequencies.cumsum(0) - torch.arange(1, 21) / 20).abs().max() < band


def test_noise_is_fresh_at_every_call_and_in_every_chain() -> None:
    target = MinibatchLogistic()
    theta = torch.zeros(2, 40, 6, dtype=torch.float64)
    streams = Streams([0, 1], "chain")
    first, second = target.noisy_log_prob(theta, streams), target.noisy_log_prob(theta, streams)
    assert first.shape == (2, 40)
    assert torch.cat([first, second]).unique().numel() == 160


def test_the_noise_of_a_seed_does_not_depend_on_the_batch() -> None:
    target = MinibatchLogistic()
    theta = target.initial((3, 2, 5), torch.Generator().manual_seed(0))
    together = target.noisy_log_prob(theta, Streams([4, 9], "chain"))
    alone = target.noisy_log_prob(theta[:, 1:], Streams([9], "chain"))
    assert torch.equal(together[:, 1:], alone)


def test_the_gradient_is_that_of_the_log_likelihood() -> None:
    target = MinibatchLogistic(**TINY)
    signed = signed_covariates(3, 6, 1.5, 1)
    theta = target.space.states().requires_grad_(True)
    log_prob = -torch.log1p(torch.exp(-(2 * theta - 1) @ signed.T)).sum(-1)
    (slope,) = torch.autograd.grad(log_prob.sum(), theta)
    value, grad = target.log_prob_and_grad(theta.detach())
    assert torch.allclose(value, log_prob, rtol=1e-13, atol=0)
    assert torch.allclose(grad, slope, rtol=0, atol=1e-13)


def test_data_depend_on_their_seed_alone() -> None:
    before = torch.get_rng_state()
    first, again, other = (MinibatchLogistic(data_seed=seed).probabilities() for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)
    assert MinibatchLogistic().space == Binary(6)


def test_numbers_of_numpy_are_whole_numbers() -> None:
    target = MinibatchLogistic(d=3, data=np.int64(100), minibatch=np.int64(50))
    assert type(target.minibatch) is int
