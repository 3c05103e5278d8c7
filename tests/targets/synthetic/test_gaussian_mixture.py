"""Gaussian mixtures on the reals: against SciPy, against autograd, and by quadrature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from torch import Tensor

from targets.spaces import Real
from targets.synthetic.gaussian_mixture import GaussianMixture
from targets.synthetic.paper_mixtures import singular_mixture, stmh_two_modes
from targets.target import ExactlySampled, HasModeWeights, Target

MEANS = [[-1.0, 0.5], [1.5, 0.0], [0.0, -2.0]]
WEIGHTS = [0.5, 0.2, 0.3]
OWN = [[[1.0, 0.6], [0.6, 0.8]], [[0.5, 0.0], [0.0, 2.0]], [[0.7, -0.3], [-0.3, 0.4]]]
COVARIANCES: dict[str, Any] = {
    "shared variance": 0.7,
    "own variances": [0.7, 0.3, 1.1],
    "shared matrix": OWN[0],
    "own matrices": OWN,
}
SAMPLED = 200_000
BAND = 5.5
"""Standard deviations that a normal statistic exceeds with probability 3.8e-8."""


def mixture(kind: str = "own matrices", **options: Any) -> GaussianMixture:
    return GaussianMixture(MEANS, WEIGHTS, COVARIANCES[kind], **options).double()


def matrices(kind: str) -> list[np.ndarray]:
    """The covariance of each component, written out."""
    given = np.asarray(COVARIANCES[kind])
    if given.ndim < 2:
        return [np.eye(2) * variance for variance in np.broadcast_to(given, 3)]
    return list(np.broadcast_to(given, (3, 2, 2)))


def log_components(kind: str, theta: Tensor) -> np.ndarray:
    """log w_k N(theta; mu_k, Sigma_k) by SciPy, ``(*batch, 3)``."""
    columns = [
        math.log(weight) + multivariate_normal(mean, matrix).logpdf(theta.numpy())
        for weight, mean, matrix in zip(WEIGHTS, MEANS, matrices(kind), strict=True)
    ]
    return np.stack(columns, axis=-1)


def points(*shape: int, seed: int = 0, d: int = 2) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2.0 * torch.randn(*shape, d, dtype=torch.float64, generator=generator)


def grid(half: float = 14.0, n: int = 561) -> tuple[Tensor, float]:
    """Points of a square, ``(n * n, 2)``, and the area of a cell: the error is far below 1e-9 here."""
    axis = torch.linspace(-half, half, n, dtype=torch.float64)
    return torch.cartesian_prod(axis, axis), float(axis[1] - axis[0]) ** 2


@pytest.mark.parametrize("kind", COVARIANCES)
def test_the_density_is_that_of_scipy(kind: str) -> None:
    target, theta = mixture(kind), points(4, 25)
    expected = log_components(kind, theta)
    assert target.space == Real(2)
    assert target.batch_invariant == ("variance" in kind)
    np.testing.assert_allclose(target.log_prob(theta), logsumexp(expected, axis=-1), rtol=1e-12)
    posterior = np.exp(expected - logsumexp(expected, axis=-1, keepdims=True))
    np.testing.assert_allclose(target.responsibilities(theta), posterior, atol=1e-13)


@pytest.mark.parametrize("kind", COVARIANCES)
def test_the_gradient_is_that_of_autograd(kind: str) -> None:
    target, theta = mixture(kind), points(3, 2, 20)
    log_prob, grad = target.log_prob_and_grad(theta)
    by_autograd = Target.log_prob_and_grad(target, theta)
    torch.testing.assert_close(log_prob, by_autograd[0], rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(grad, by_autograd[1], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(target.log_prob(theta), log_prob, rtol=0, atol=0)


@pytest.mark.parametrize("kind", COVARIANCES)
def test_its_integral_and_moments_are_those_of_quadrature(kind: str) -> None:
    target = mixture(kind)
    theta, cell = grid()
    mass = target.log_prob(theta).exp() * cell
    assert float(mass.sum()) == pytest.approx(1.0, abs=1e-9)
    mean = mass @ theta
    torch.testing.assert_close(target.mean(), mean, rtol=0, atol=1e-9)
    torch.testing.assert_close(
        target.covariance(), (theta - mean).T @ ((theta - mean) * mass.unsqueeze(-1)), rtol=0, atol=1e-8
    )
    torch.testing.assert_close(
        mass @ target.responsibilities(theta), target.mode_weights(), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("kind", COVARIANCES)
def test_draws_follow_the_mixture(kind: str) -> None:
    """Two means, three second moments and three weights at 5.5 standard errors: 3e-7 for all."""
    target = mixture(kind)
    theta = target.sample((100, SAMPLED // 100), torch.Generator().manual_seed(0)).flatten(0, 1)
    x, y = (theta - target.mean()).unbind(-1)
    responsibilities = target.responsibilities(theta)
    measured = torch.stack([x, y, x * x, x * y, y * y, *responsibilities.unbind(-1)])
    covariance = target.covariance()
    known = torch.stack([*torch.zeros(2), covariance[0, 0], covariance[0, 1], covariance[1, 1]])
    errors = measured.mean(-1) - torch.cat([known, target.mode_weights()])
    assert float((errors / (measured.std(-1) / math.sqrt(SAMPLED))).abs().max()) < BAND


def test_modes_and_weights_are_those_given() -> None:
    target = mixture()
    assert isinstance(target, HasModeWeights)
    assert isinstance(target, ExactlySampled)
    assert target.modes.tolist() == MEANS
    assert target.mode_weights().tolist() == WEIGHTS
    single = GaussianMixture(MEANS).float()
    assert (single.modes.dtype, single.mode_weights().dtype) == (torch.float32, torch.float64)
    assert single.mode_weights().tolist() == [1 / 3] * 3


def test_any_dimension_and_any_number_of_components() -> None:
    means = points(5, d=7)
    target = GaussianMixture(means, covariance=0.4).double()
    theta = points(30, d=7, seed=1)
    expected = [multivariate_normal(mean.numpy(), 0.4).logpdf(theta.numpy()) for mean in means]
    np.testing.assert_allclose(target.log_prob(theta), logsumexp(expected, axis=0) - math.log(5), rtol=1e-12)
    one = GaussianMixture([[2.0]], covariance=0.25).double()
    density = multivariate_normal(2.0, 0.25).logpdf(1.3)
    assert float(one.log_prob(torch.tensor([1.3], dtype=torch.float64))) == pytest.approx(density, abs=1e-14)


def test_distant_points_do_not_overflow() -> None:
    for dtype in (torch.float32, torch.float64):
        log_prob, grad = mixture().to(dtype).log_prob_and_grad(torch.full((1, 2), 1e6, dtype=dtype))
        assert bool(log_prob.isfinite().all())
        assert bool(grad.isfinite().all())
        assert bool((log_prob < -1e10).all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("components", "d"), [(1, 1), (2, 2), (5, 7), (17, 33)])
def test_the_bits_do_not_depend_on_the_batch(components: int, d: int, dtype: torch.dtype) -> None:
    variances = [1.0 + 0.1 * component for component in range(components)]
    target = GaussianMixture(points(components, d=d), covariance=variances).to(dtype)
    assert target.batch_invariant
    for chains in (1, 3, 8, 13):
        theta = points(4, chains, d=d, seed=chains).to(dtype)
        log_prob, grad = target.log_prob_and_grad(theta)
        for seed in range(4):
            alone = target.log_prob_and_grad(theta[seed : seed + 1].clone())
            assert torch.equal(alone[0], log_prob[seed : seed + 1])
            assert torch.equal(alone[1], grad[seed : seed + 1])


@pytest.mark.parametrize(
    ("target", "mean", "variance"),
    [
        (stmh_two_modes(5.0), [2.5 / math.sqrt(2)] * 2, 1.0),
        (stmh_two_modes(40.0), [20 / math.sqrt(2)] * 2, 1.0),
        (stmh_two_modes(7.0, d=5), [3.5 / math.sqrt(5)] * 5, 1.0),
        (singular_mixture(0.3, d=2), [1.0, 0.0], 0.09),
        (singular_mixture(), [1.0], 0.09),
        (singular_mixture(distance=3.0), [1.5], 0.09),
    ],
)
def test_the_mixtures_of_the_papers(target: GaussianMixture, mean: list[float], variance: float) -> None:
    """STMH's two modes and ReLD's singular mixture: 1/2 N(-mean, variance I) + 1/2 N(mean, variance I)."""
    assert target.space == Real(len(mean))
    theta = points(20, d=len(mean))
    both = [multivariate_normal(sign * np.array(mean), variance).logpdf(theta.numpy()) for sign in (-1, 1)]
    np.testing.assert_allclose(
        target.double().log_prob(theta), logsumexp(both, axis=0) - math.log(2), rtol=1e-12
    )
    np.testing.assert_allclose(target.modes, np.array([[-1.0], [1.0]]) * mean, rtol=1e-15)


def test_every_chain_starts_at_a_given_point() -> None:
    generator = torch.Generator().manual_seed(0)
    theta = stmh_two_modes(start=[10.0, 10.0]).double().initial((3, 1, 4), generator)
    assert theta.shape == (3, 1, 4, 2)
    assert bool((theta == 10.0).all())
    theta[0] = 0.0
    assert bool((theta[1:] == 10.0).all())


def test_other_starts_are_normal_around_the_origin() -> None:
    """Mean and standard deviation of 40,000 numbers at 5.5 standard errors: 8e-8."""
    theta = stmh_two_modes(start_scale=3.0).double().initial((4, 5_000), torch.Generator().manual_seed(0))
    assert theta.shape == (4, 5_000, 2)
    assert abs(float(theta.mean())) < BAND * 3.0 / 200
    assert abs(float(theta.std()) - 3.0) < BAND * 3.0 / (200 * math.sqrt(2))
