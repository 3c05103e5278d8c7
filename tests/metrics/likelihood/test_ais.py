"""AIS against exact partition functions, and against its own theory by enumeration."""

from __future__ import annotations

import math

import pytest
import torch

from metrics.likelihood.ais_schedule import SCHEDULES, schedule
from metrics.likelihood.importance_weights import Estimate, log_mean_weight
from metrics.likelihood.rbm_annealing import (
    RBMAnnealing,
    UntemperedRBMAnnealing,
    log_reference_partition,
    reference_draws,
)
from metrics.likelihood.rbm_log_partition import (
    exact_rbm_log_partition,
    rbm_mean_log_prob,
    rbm_reference_log_likelihood,
)
from targets.models.rbm import RBM
from targets.randomness import Streams, uniform
from targets.spaces import Binary


def machine(n_visible: int, n_hidden: int, scale: float = 0.5, seed: int = 1) -> RBM:
    """An RBM with normal couplings and biases and a data mean of its own."""
    generator = torch.Generator().manual_seed(seed)
    rbm = RBM(n_visible, n_hidden, mean=torch.rand(n_visible, generator=generator, dtype=torch.float64))
    with torch.no_grad():
        for parameter in rbm.parameters():
            parameter.copy_(scale * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return rbm.double().requires_grad_(False)


def forward(rbm: RBM, betas: torch.Tensor, chains: int, seed: int) -> Estimate:
    streams = Streams([seed], "ais/forward")
    run = RBMAnnealing(rbm, betas, reference_draws(rbm, chains, streams), streams)
    run.advance(run.steps)
    return log_mean_weight(run.log_weights).shifted(log_reference_partition(rbm))


def reverse(rbm: RBM, betas: torch.Tensor, draws: torch.Tensor, seed: int) -> Estimate:
    run = RBMAnnealing(rbm, betas.flip(0), draws.unsqueeze(0), Streams([seed], "ais/reverse"))
    run.advance(run.steps)
    return log_mean_weight(run.log_weights).reversed(log_reference_partition(rbm))


def exact_draws(rbm: RBM, number: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    picked = torch.multinomial(rbm.probabilities(), number, replacement=True, generator=generator)
    return rbm.space.states()[picked]


@pytest.mark.parametrize("shape", [(3, 2), (5, 9), (9, 5), (4, 14)])
def test_log_z_is_the_sum_over_both_layers(shape: tuple[int, int]) -> None:
    rbm = machine(*shape, scale=1.5)
    visible, hidden = Binary(shape[0]).states(), Binary(shape[1]).states()
    joint = (visible @ rbm.weight.T) @ hidden.T
    joint = joint + (visible @ rbm.visible_bias).unsqueeze(-1) + hidden @ rbm.hidden_bias
    assert exact_rbm_log_partition(rbm) == pytest.approx(float(joint.flatten().logsumexp(0)), abs=1e-10)


def test_log_z_of_a_large_machine_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 20 hidden or visible units, n_hidden=21 and n_visible=22"):
        exact_rbm_log_partition(RBM(22, 21))


def test_the_estimate_is_within_four_standard_errors_and_a_twentieth_of_a_nat() -> None:
    rbm = machine(12, 10)
    truth, found = exact_rbm_log_partition(rbm), forward(rbm, schedule(1000), 500, seed=0)
    assert abs(found.value - truth) <= min(0.05, 4.0 * found.standard_error)
    assert found.low <= found.value <= found.high


def test_forward_and_reverse_bracket_the_truth() -> None:
    # A short schedule, so that the two sides stand apart by more than their errors.
    rbm = machine(12, 10, scale=1.0)
    truth, betas, bracketed = exact_rbm_log_partition(rbm), schedule(20), 0
    for seed in range(20):
        up = forward(rbm, betas, 100, seed)
        down = reverse(rbm, betas, exact_draws(rbm, 100, seed), seed)
        low, high = up.value - 2 * up.standard_error, down.value + 2 * down.standard_error
        bracketed += low <= truth <= high
    assert bracketed >= 19


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_weights_are_unbiased_for_the_ratio_of_partition_functions(steps: int) -> None:
    # 4e5 chains; the alarm rate at five standard errors is below 1e-6 a case.
    rbm = machine(4, 3, scale=0.7)
    streams, back = Streams([3], "ais/forward"), Streams([3], "ais/reverse")
    betas, ratio = schedule(steps), exact_rbm_log_partition(rbm) - log_reference_partition(rbm)
    draws = exact_draws(rbm, 400_000, 4).unsqueeze(0)
    for run, truth in (
        (RBMAnnealing(rbm, betas, reference_draws(rbm, 400_000, streams), streams), ratio),
        (RBMAnnealing(rbm, betas.flip(0), draws, back), -ratio),
    ):
        run.advance(steps)
        weights = (run.log_weights.flatten() - truth).exp()
        error = float(weights.std()) / len(weights) ** 0.5
        assert error < 0.01
        assert abs(float(weights.mean()) - 1.0) <= 5.0 * error


@pytest.mark.parametrize("beta", [0.0, 0.3, 0.9, 1.0])
def test_a_transition_leaves_the_law_at_its_temperature_invariant(beta: float) -> None:
    rbm = machine(3, 2, scale=1.0)
    states = rbm.space.states()
    base = rbm.data_mean.logit()
    logits = rbm.hidden_logits(states)
    log_pi = torch.nn.functional.softplus(beta * logits).sum(-1) + states @ (
        (1 - beta) * base + beta * rbm.visible_bias
    )
    pi, draws = log_pi.softmax(-1), 400_000
    picked = torch.multinomial(pi, draws, replacement=True, generator=torch.Generator().manual_seed(0))
    run = RBMAnnealing(rbm, schedule(2), states[picked], torch.Generator().manual_seed(1))
    after = run._transition(rbm.hidden_logits(states[picked]), beta)
    seen = torch.bincount(rbm.space.index(after), minlength=len(states)).double() / draws
    # DKW: a gap of 0.0043 between 400,000 draws and their law has a probability below 1e-6.
    assert float((seen.cumsum(0) - pi.cumsum(0)).abs().max()) <= math.sqrt(math.log(2e6) / (2 * draws))


def test_released_estimator_goes_to_log_z_plus_the_divergence_from_the_base() -> None:
    # The toy of settings C, 20 visible and 10 hidden units.
    rbm = machine(20, 10, scale=0.45, seed=5)
    states = rbm.space.states()
    log_p = rbm.log_prob(states) - exact_rbm_log_partition(rbm)
    mean = rbm.data_mean
    log_base = states @ mean.logit() + torch.log1p(-mean).sum()
    divergence = float((log_p.exp() * (log_p - log_base)).sum())
    assert divergence > 2.0
    streams = Streams([0], "ais/untempered")
    run = UntemperedRBMAnnealing(rbm, schedule(10_000), reference_draws(rbm, 100, streams), streams)
    run.advance(run.steps)
    truth = exact_rbm_log_partition(rbm)
    assert abs(log_mean_weight(run.log_weights).value - truth - divergence) <= 0.3
    assert abs(forward(rbm, schedule(2000), 200, seed=0).value - truth) <= 0.1


def test_a_stopped_annealing_ends_with_the_same_bits() -> None:
    rbm = machine(12, 10).float()
    whole, first = Streams([2], "ais"), Streams([2], "ais")
    run = RBMAnnealing(rbm, schedule(50), reference_draws(rbm, 8, whole), whole)
    run.advance(50)
    part = RBMAnnealing(rbm, schedule(50), reference_draws(rbm, 8, first), first)
    part.advance(20)
    saved, place = part.state_dict(), first.state_dict()
    streams = Streams([2], "ais")
    rest = RBMAnnealing(rbm, schedule(50), reference_draws(rbm, 8, streams), streams)
    rest.load_state_dict(saved)
    streams.load_state_dict(place)
    rest.advance(1000)
    assert rest.step == 50
    assert torch.equal(rest.log_weights, run.log_weights)


def test_single_precision_costs_little() -> None:
    rbm = machine(60, 40, scale=0.2)
    exact, single = forward(rbm, schedule(2000), 100, 1), forward(rbm.float(), schedule(2000), 100, 1)
    assert abs(exact.value - single.value) <= 3 * (exact.standard_error + single.standard_error)


@pytest.mark.parametrize("kind", SCHEDULES)
@pytest.mark.parametrize("steps", [1, 2, 28, 1000])
def test_schedules_rise_from_0_to_1(kind: str, steps: int) -> None:
    betas = schedule(steps, kind)
    assert len(betas) == steps + 1
    assert betas[0] == 0
    assert betas[-1] == 1
    assert (betas.diff() > 0).all()


@pytest.mark.parametrize(
    "given",
    [[0.0, 0.5, 0.5, 1.0], [0.1, 1.0], [0.0, 0.9], [1.0, 0.0], [0.0], [0.0, "a", 1.0], [0, float("nan"), 1]],
)
def test_other_schedules_are_refused(given: list[float]) -> None:
    with pytest.raises(ValueError, match="temperatures must be a whole number of at least 1 or a schedule"):
        schedule(given)


def test_effective_sample_size_and_error_are_those_of_the_definition() -> None:
    weights = torch.tensor([1.0, 2.0, 3.0, 10.0], dtype=torch.float64)
    found = log_mean_weight(weights.log() + 700.0)
    assert found.value == pytest.approx(700.0 + math.log(4.0))
    assert found.effective_sample_size == pytest.approx(16.0**2 / 114.0)
    assert found.standard_error == pytest.approx(float(weights.std()) / (4.0 * 2.0))
    with pytest.raises(ValueError, match="at least two finite numbers"):
        log_mean_weight(torch.tensor([1.0, math.nan]))


def test_likelihoods_are_means_of_exact_probabilities() -> None:
    rbm = machine(6, 4)
    data = (uniform(torch.Generator().manual_seed(0), (50,), (6,), like=rbm.weight) < 0.4).to(torch.uint8)
    log_p = rbm.probabilities().log()[rbm.space.index(data)]
    assert rbm_mean_log_prob(rbm, data) - exact_rbm_log_partition(rbm) == pytest.approx(float(log_p.mean()))
    mean = rbm.data_mean
    by_hand = torch.where(data > 0, mean.log(), torch.log1p(-mean)).sum(-1).mean()
    assert rbm_reference_log_likelihood(rbm, data) == pytest.approx(float(by_hand))
