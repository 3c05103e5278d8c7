"""The loss of a training against closed forms, sums written out, finite differences and exact likelihoods."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from runner.models.training import Training
from runner.models.training import loss as loss_module
from runner.models.training.loss import energy_penalty, free_energy_gap, gradient_penalty, learning_loss
from samplers.discrete.dmala import DMALA
from targets.models.rbm import RBM
from tests.support.training import (
    gradient,
    halves,
    log_likelihood,
    settings,
    small_rbm,
    state_of,
    statistics,
    training,
)

DATA, SAMPLES = halves().double(), halves(17, seed=9).double()


def test_the_gradient_is_the_closed_form() -> None:
    model = small_rbm()
    found = gradient(model, SAMPLES, DATA)
    negative, positive = statistics(model, SAMPLES), statistics(model, DATA)
    for name, value in found.items():
        assert torch.allclose(value, negative[name].mean(0) - positive[name].mean(0), atol=1e-13)


@pytest.mark.parametrize(("slope", "size"), [(0.0, 0.0), (0.7, 0.3)])
def test_the_gradient_is_that_of_finite_differences(slope: float, size: float) -> None:
    model, how = small_rbm(), settings(gradient_penalty=slope, energy_penalty=size)

    def total() -> Tensor:
        return learning_loss(model, SAMPLES, DATA, how).total

    found = torch.autograd.grad(total(), list(model.parameters()))
    for parameter, expected in zip(model.parameters(), found, strict=True):
        flat = parameter.data.view(-1)
        for place in range(len(flat)):
            kept, ends = flat[place].clone(), []
            for shift in (1e-6, -1e-6):
                flat[place] = kept + shift
                ends.append(float(total().detach()))
            flat[place] = kept
            found_here = float(expected.view(-1)[place])
            assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(found_here, abs=1e-6 if slope else 1e-8)


def test_with_exact_samples_it_is_the_gradient_of_the_likelihood() -> None:
    """All states as samples, each as often as the model says, against autograd of the exact likelihood."""
    model = small_rbm()
    states, pi = model.space.states(), model.probabilities().detach()
    exact = torch.autograd.grad(-log_likelihood(model, DATA), list(model.parameters()))
    negative, positive = statistics(model, states), statistics(model, DATA)
    for value, name in zip(exact, ("weight", "hidden_bias", "visible_bias"), strict=True):
        expected = torch.tensordot(pi, negative[name], dims=1) - positive[name].mean(0)
        assert torch.allclose(value, expected, atol=1e-12)


def written_out(model: RBM, samples: Tensor, data: Tensor, slope: float, size: float) -> Tensor:
    """The loss from U and its gradient in closed form, b + W' sigmoid(c + Wx)."""
    of_samples, of_data = model.log_prob(samples), model.log_prob(data)
    grads = [model.visible_bias + model.weight.T @ model.hidden_logits(x).sigmoid() for x in data]
    loss = of_samples.mean() - of_data.mean() + slope * torch.stack([(g**2).sum() for g in grads]).mean()
    return loss + size * ((of_samples**2).mean() + (of_data**2).mean())


def trained(slope: float, size: float) -> Training:
    how = settings(learning_rate=1e-9, gradient_penalty=slope, energy_penalty=size)
    run = training(DMALA(0.3), how)
    run.advance(1)
    return run


@pytest.mark.parametrize(("slope", "size"), [(0.0, 0.0), (0.7, 0.0), (0.0, 0.3), (0.7, 0.3)])
def test_the_update_follows_the_gradient_of_the_loss_written_out(slope: float, size: float) -> None:
    run, model = trained(slope, size), small_rbm()
    samples, data = state_of(run).theta[0], run.batches.at(0)
    loss = written_out(model, samples, data, slope, size)
    expected = torch.autograd.grad(loss, list(model.parameters()))
    for parameter, value in zip(run.target.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, value, atol=1e-12, rtol=1e-10)
    # The record holds the energy difference alone.
    plain = written_out(model, samples, data, 0.0, 0.0)
    assert run.history.records[-1]["values"]["loss"] == pytest.approx(float(plain.detach()), abs=1e-12)


def test_penalties_by_hand() -> None:
    """U = |x|^2, whose slope is 2 x."""
    states = torch.tensor([[9.0, 9.0], [1.0, 2.0], [0.0, 3.0]], dtype=torch.float64, requires_grad=True)
    log_prob = (states**2).sum(-1)
    # Of the last two: |2 x|^2 = 20 and 36.
    assert float(gradient_penalty(log_prob[1:], states).detach()) == pytest.approx(28.0)
    found = float(energy_penalty(log_prob[:1], log_prob[1:]).detach())
    assert found == pytest.approx(162.0**2 + (25 + 81) / 2)


def test_penalties_that_are_off_cost_no_second_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def called(*arguments: Any) -> Tensor:
        raise AssertionError("a penalty that is off is computed")

    monkeypatch.setattr(loss_module, "gradient_penalty", called)
    monkeypatch.setattr(loss_module, "energy_penalty", called)
    trained(0.0, 0.0)
    for on in ((1.0, 0.0), (0.0, 1.0)):
        with pytest.raises(AssertionError, match="off is computed"):
            trained(*on)


def test_the_free_energy_gap_of_a_sorted_set_is_over_all_of_it() -> None:
    """One of fewer than 2,000 images keeps its first 1,000, as recorded gaps have them."""
    model, some = small_rbm().requires_grad_(False), halves(100, seed=3).double()
    order = model.log_prob(some).argsort()
    ordered = some[order].repeat_interleave(41, 0)
    value = model.log_prob(some).mean()
    assert free_energy_gap(model, ordered, some) == pytest.approx(0.0, abs=0.1)
    assert free_energy_gap(model, some, ordered) == pytest.approx(0.0, abs=0.1)
    few = ordered[:1999]
    first = float(model.log_prob(few[:1000]).mean() - value)
    assert first < -0.5
    assert free_energy_gap(model, few, some) == pytest.approx(first)
