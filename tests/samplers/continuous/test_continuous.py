"""MALA, ULA and the random walk on the reals: detailed balance pointwise, moments, and known biases."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal, norm
from torch import Tensor

from samplers import MALA, ULA, GaussianWalk, Kernel, MetropolisHastings, ParallelTempering, RandomWalk, State
from samplers.continuous.gaussian_random_walk import GaussianStep
from samplers.kernel import evaluate
from samplers.proposals.continuous_langevin import LangevinDiffusionProposal
from samplers.tuning.pilots.sought_step_sizes import Pilot, Sought
from samplers.tuning.pilots.step_size import tune_step_size
from targets import GaussianMixture, Real, Streams
from tests.support.steps.stepping import ONE, seeded, walked
from tests.support.tunable import piloted, tunable

TWO = GaussianMixture([[-2.0, 0.0], [2.0, 1.0]], covariance=0.5).double()
CHAINS = 10_000
STEPS = 100
LADDER = (1.0, 0.4)
STANDARD_ERRORS = 4.0
"""The band of the moments. With six of them a false alarm in 4e-4 of seeds a kernel; the seed is fixed."""


def mixture(start: tuple[float, float] | None = None) -> GaussianMixture:
    """Two components of unequal weights and shapes that a local kernel can cross between."""
    return GaussianMixture(
        means=[[-1.0, 0.5], [1.2, -0.3]],
        weights=[0.35, 0.65],
        covariance=[[[0.6, 0.3], [0.3, 0.9]], [[1.1, -0.2], [-0.2, 0.4]]],
        start=start,
    ).double()


def tempered() -> Kernel:
    return ParallelTempering(MALA(1.0), ladder=list(LADDER), step_size=[0.25, 0.6])


KERNELS: dict[str, Callable[[], Kernel]] = {
    "mala": lambda: MALA(0.25),
    "random_walk": lambda: RandomWalk(1.2),
    "gaussian_walk": lambda: GaussianWalk(1.2),
    "pt_mala": tempered,
}


@dataclass(frozen=True)
class Moments:
    """E of x, y, x^2, xy, y^2 and U, and their standard deviations, each ``(6,)``."""

    mean: Tensor
    sd: Tensor


def statistics(target: GaussianMixture, theta: Tensor) -> Tensor:
    """x, y, x^2, xy, y^2 and U, ``(*batch, 6)``."""
    x, y = theta.unbind(-1)
    return torch.stack([x, y, x * x, x * y, y * y, target.log_prob(theta)], dim=-1)


def exact_moments(target: GaussianMixture, beta: float) -> Moments:
    """The moments of pi^beta by quadrature on a square far wider than the mixture."""
    axis = torch.linspace(-16, 16, 641, dtype=torch.float64)
    theta = torch.cartesian_prod(axis, axis)
    distribution = (beta * target.log_prob(theta)).softmax(0)
    values = statistics(target, theta)
    mean = distribution @ values
    return Moments(mean, (distribution @ (values - mean).square()).sqrt())


def standard_errors(target: GaussianMixture, theta: Tensor, beta: float = 1.0) -> Tensor:
    """How many standard errors of independent draws the means over `theta` are off, ``(6,)``."""
    known = exact_moments(target, beta)
    error = statistics(target, theta).mean(0) - known.mean
    return (error / (known.sd / math.sqrt(len(theta)))).abs()


def run(kernel: Kernel, target: GaussianMixture, steps: int, beta: Tensor = ONE, seed: int = 0) -> State:
    generator = seeded(seed)
    theta = target.initial((*kernel.axes, 1, CHAINS), generator)
    state = kernel.init(target, theta, beta)
    state, _ = walked(kernel, target, state, steps, generator, beta)
    return state


def somewhere(target: GaussianMixture, *shape: int, seed: int = 0) -> State:
    generator = seeded(seed)
    theta = 1.5 * torch.randn(*shape, 2, dtype=torch.float64, generator=generator)
    return evaluate(target, theta, gradient=True)


@pytest.mark.parametrize("name", KERNELS)
def test_exact_kernels_find_mean_covariance_and_energy(name: str) -> None:
    """All chains start at one point far out; 100 steps later they are independent draws of the target."""
    target = mixture(start=(4.0, -4.0))
    kernel = KERNELS[name]()
    assert kernel.exact
    state = run(kernel, target, STEPS)
    assert float(standard_errors(target, kernel.draws(state)[0]).max()) < STANDARD_ERRORS
    if kernel.axes:
        assert float(standard_errors(target, state.theta[1, 0], LADDER[1]).max()) < STANDARD_ERRORS


def test_an_unadjusted_kernel_is_seen_to_be_biased() -> None:
    """The power of the test above: at the same step size ULA misses by far more than the band."""
    target = mixture(start=(4.0, -4.0))
    kernel = ULA(0.25)
    assert not kernel.exact
    assert float(standard_errors(target, run(kernel, target, STEPS).theta[0]).max()) > 3 * STANDARD_ERRORS


def drifted(state: State, step_size: float, beta: float) -> Tensor:
    """Where MALA's proposal is centred."""
    assert state.grad is not None
    return state.theta + step_size * beta * state.grad


BALANCED: dict[str, tuple[Callable[[float], MetropolisHastings], Callable[[State, float, float], Tensor]]] = {
    "mala": (MALA, drifted),
    "random_walk": (lambda h: RandomWalk(math.sqrt(2 * h)), lambda state, h, beta: state.theta),
    "gaussian_walk": (lambda h: GaussianWalk(math.sqrt(2 * h)), lambda state, h, beta: state.theta),
}
"""Each kernel whose proposal has the variance 2 h, and the proposal's mean."""


@pytest.mark.parametrize("beta", [1.0, 0.3])
@pytest.mark.parametrize("step_size", [0.01, 3.0])
@pytest.mark.parametrize("name", BALANCED)
def test_detailed_balance_holds_point_by_point(name: str, step_size: float, beta: float) -> None:
    """pi(x) q(x, y) a(x, y) is symmetric, with pi and q written out by SciPy and a as the step takes it."""
    target = mixture()
    here, there = somewhere(target, 400), somewhere(target, 400, seed=1)
    # Half of the pairs as near as the proposal goes.
    near = here.theta + math.sqrt(2 * step_size) * (there.theta - here.theta) / 2
    mixed = torch.where(torch.arange(400).unsqueeze(-1) < 200, near, there.theta)
    there = evaluate(target, mixed, gradient=True)
    make, centre = BALANCED[name]
    kernel, tempered_by = make(step_size), torch.tensor(beta, dtype=torch.float64)

    def flow(x: State, y: State) -> np.ndarray:
        proposal = norm(centre(x, step_size, beta).numpy(), math.sqrt(2 * step_size))
        log_q = proposal.logpdf(y.theta.numpy()).sum(-1)
        log_a = kernel.log_acceptance(target.space, x, y, tempered_by).numpy()
        return np.asarray(beta * x.log_prob.numpy() + log_q + log_a)

    forward, backward = flow(here, there), flow(there, here)
    assert np.abs(np.exp(forward) - np.exp(backward)).max() <= 1e-12
    np.testing.assert_allclose(forward, backward, rtol=1e-12, atol=1e-11)
    assert np.exp(forward).max() > 1e-4


@pytest.mark.parametrize("name", BALANCED)
def test_the_step_accepts_with_the_probability_that_is_in_balance(name: str) -> None:
    target, kernel, beta = mixture(), BALANCED[name][0](0.4), torch.tensor(0.7, dtype=torch.float64)
    state = somewhere(target, 1, 500)
    theta, _ = kernel.proposal.propose(target.space, state, beta, seeded(5))
    proposed = evaluate(target, theta, gradient=True)
    after, info = kernel.step(target, state, beta, seeded(5))
    expected = kernel.log_acceptance(target.space, state, proposed, beta).exp()
    torch.testing.assert_close(info.acceptance, expected, rtol=1e-12, atol=1e-15)
    moved = (after.theta != state.theta).any(-1)
    assert torch.equal(after.theta[moved], proposed.theta[moved])
    # 500 independent decisions: 5.5 standard deviations, 3.8e-8.
    spread = float((expected * (1 - expected)).sum().sqrt())
    assert abs(float(moved.sum() - expected.sum())) < 5.5 * spread
    assert 0.2 < float(expected.mean()) < 0.95


def test_the_proposal_is_the_density_it_says() -> None:
    target, beta = mixture(), torch.tensor(0.7, dtype=torch.float64)
    state = somewhere(target, 3, 1, 50)
    proposal = LangevinDiffusionProposal(torch.tensor([0.01, 0.5, 4.0], dtype=torch.float64).reshape(3, 1, 1))
    theta, log_prob = proposal.propose(Real(2), state, beta, seeded(1))
    assert state.grad is not None
    for rung, step_size in enumerate((0.01, 0.5, 4.0)):
        mean = state.theta[rung] + step_size * 0.7 * state.grad[rung]
        expected = norm(mean.numpy(), math.sqrt(2 * step_size)).logpdf(theta[rung].numpy()).sum(-1)
        np.testing.assert_allclose(log_prob[rung], expected, rtol=1e-11)
        torch.testing.assert_close(proposal.mean(state, beta)[rung], mean)
    again = proposal.log_prob(Real(2), state, theta, beta)
    torch.testing.assert_close(again, log_prob, rtol=0, atol=0)


def test_draws_of_the_proposal_follow_its_density() -> None:
    """Mean and variance of 100,000 draws of each coordinate at 5.5 standard errors: 2e-7."""
    target = mixture()
    state = evaluate(
        target, torch.tensor([[0.4, -1.1]], dtype=torch.float64).expand(100_000, 2), gradient=True
    )
    proposal = LangevinDiffusionProposal(torch.tensor(0.3, dtype=torch.float64))
    theta, _ = proposal.propose(Real(2), state, 0.5 * ONE, seeded(0))
    assert state.grad is not None
    standard = (theta - (state.theta + 0.15 * state.grad)) / math.sqrt(0.6)
    assert float(standard.mean(0).abs().max()) < 5.5 / math.sqrt(100_000)
    assert float((standard.var(0) - 1).abs().max()) < 5.5 * math.sqrt(2 / 100_000)


@pytest.mark.parametrize(("step_size", "beta"), [(0.1, 1.0), (0.8, 1.0), (0.8, 0.5)])
def test_ula_is_biased_as_theory_says_on_a_gaussian(step_size: float, beta: float) -> None:
    """N(1, 0.5): variance (0.5 / beta) / (1 - a / 2) with a = beta h / 0.5.

    A mean and two variances at 5.5 standard errors: 1e-7. The chains start at 3 and forget it: what is left,
    (1 - a)^60, is below the standard error.
    """
    target = GaussianMixture([[1.0]], covariance=0.5, start=[3.0]).double()
    tempered_by = torch.tensor(beta, dtype=torch.float64)
    a = beta * step_size / 0.5
    variance = (0.5 / beta) / (1 - a / 2)
    draws = run(ULA(step_size), target, 60, tempered_by).theta.flatten()
    assert abs(float(draws.mean()) - 1.0) < 5.5 * math.sqrt(variance / CHAINS) + 2 * abs(1 - a) ** 60
    error = variance * math.sqrt(2 / CHAINS)
    assert abs(float(draws.var()) - variance) < 5.5 * error
    if step_size > 0.5:
        assert variance - 0.5 / beta > 15 * error
    adjusted = run(MALA(step_size), target, 60, tempered_by).theta.flatten()
    assert abs(float(adjusted.var()) - 0.5 / beta) < 5.5 * (0.5 / beta) * math.sqrt(2 / CHAINS)


def test_the_step_size_is_tuned_to_the_acceptance_asked_for() -> None:
    """The pilot's and the check's own noise are near 0.01; 0.05 tells 0.574 from 0.7 and from 0.45."""
    target = mixture()
    found = tunable(MALA).tune(target, seeded(0))
    kernel = tunable(MALA).kernel_at(found.hyperparameters)
    assert tunable(MALA).open == ("step_size",)
    generator = seeded(1)
    state = evaluate(target, target.sample((1, 5_000), generator), gradient=True)
    _, info = kernel.step(target, state, ONE, generator)
    assert float(info.acceptance.mean()) == pytest.approx(0.574, abs=0.05)
    assert tunable(ULA).tune(target, seeded(0)) == found


def test_hot_replicas_take_longer_steps() -> None:
    """pi^beta of one Gaussian is as wide as beta^(-1/2), and its step size goes as 1 / beta."""
    target = GaussianMixture([[0.0, 0.0]]).double()
    betas = torch.tensor([1.0, 0.25], dtype=torch.float64)
    pilot = Pilot(chains=64)
    found = piloted(lambda run: tune_step_size(run, Sought(MALA, betas), pilot), target, seeded(0))
    sizes = found.sizes
    assert float(sizes[1] / sizes[0]) == pytest.approx(4.0, rel=0.2)


def test_the_gaussian_walk_is_the_random_walk_of_one_step_size() -> None:
    ends = []
    for kernel in (GaussianWalk(0.7), RandomWalk(0.7)):
        generator = Streams([3, 4], "chain")
        state = kernel.init(TWO, TWO.initial((2, 20), generator), ONE)
        for _ in range(30):
            state, info = kernel.step(TWO, state, 0.6 * ONE, generator)
        ends.append((state.theta, info.acceptance))
    for ours, theirs in zip(*ends, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=0)


def test_the_density_of_the_gaussian_step_is_the_normal_one_and_that_of_its_draws() -> None:
    sizes = torch.tensor([0.3, 2.0], dtype=torch.float64)
    proposal, space = GaussianStep(sizes), Real(2)
    source = evaluate(TWO, torch.tensor([[0.0, 1.0], [3.0, -1.0]], dtype=torch.float64), gradient=False)
    drawn, log_q = proposal.propose(space, source, ONE, seeded(1))
    torch.testing.assert_close(proposal.log_prob(space, source, drawn, ONE), log_q)
    for chain in range(2):
        exact = multivariate_normal(source.theta[chain].numpy(), float(sizes[chain]) ** 2)
        assert float(log_q[chain]) == pytest.approx(exact.logpdf(drawn[chain].numpy()), abs=1e-12)


def test_each_chain_has_its_own_step_size() -> None:
    sizes = torch.tensor([[1e-3, 1.0]], dtype=torch.float64)
    kernel = GaussianWalk(sizes)
    generator = Streams([0], "chain")
    state = kernel.init(TWO, TWO.initial((1, 2), generator), ONE)
    after, _ = kernel.step(TWO, state, torch.zeros_like(sizes), generator)
    near, far = (after.theta - state.theta).norm(dim=-1)[0]
    assert 0 < near < 0.01
    assert far > 0.1


def test_the_gaussian_walk_is_tuned_to_its_own_acceptance() -> None:
    """Mean of 2,000 chains after 50 steps: the standard error is 0.007, the pilot's about 0.01."""
    kernel = tunable(GaussianWalk).tuned(TWO, Streams([0], "tuning"))
    generator = Streams([0], "chain")
    state = kernel.init(TWO, TWO.sample((1, 2_000), generator), ONE)
    state, info = walked(kernel, TWO, state, 50, generator, ONE)
    assert float(info.acceptance.mean()) == pytest.approx(0.234, abs=0.05)


@pytest.mark.parametrize("cls", [MALA, ULA, GaussianWalk])
@pytest.mark.parametrize("shape", [(), (8,)], ids=["scalar", "by_chain"])
def test_states_keep_their_dtype_whatever_that_of_the_step_size(
    cls: Callable[..., Kernel], shape: tuple[int, ...]
) -> None:
    target, kernel = mixture().float(), cls(torch.full(shape, 0.3, dtype=torch.float64))
    state = kernel.init(target, torch.zeros(8, 2), torch.ones(()))
    after, info = kernel.step(target, state, torch.ones(()), seeded(0))
    assert after.theta.dtype == after.log_prob.dtype == info.acceptance.dtype == torch.float32
