"""Penalties of the loss against sums written out, and their gradients against finite differences."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from runner.models.training import Training, TrainingImages, TrainingSettings
from runner.models.training import loss as loss_module
from runner.models.training.loss import energy_penalty, gradient_penalty
from samplers.discrete.dmala import DMALA
from targets.models.rbm import RBM

BATCH, CHAINS = 10, 7


def images(rows: int = 60, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand((rows, 6), generator=generator) < 0.4).to(torch.uint8)


def machine() -> RBM:
    model = RBM(6, 4, images().double().mean(0), seed=1)
    model.weight.data *= 3.0
    return model


def total(model: RBM, samples: Tensor, data: Tensor, slope: float, size: float) -> Tensor:
    """The loss written out: U, and its gradient in closed form, b + W' sigmoid(c + Wx)."""
    energy = {"samples": model.log_prob(samples), "data": model.log_prob(data)}
    loss = energy["samples"].mean() - energy["data"].mean()
    grads = [model.visible_bias + model.weight.T @ model.hidden_logits(x).sigmoid() for x in data]
    loss = loss + slope * torch.stack([(g**2).sum() for g in grads]).mean()
    return loss + size * ((energy["samples"] ** 2).mean() + (energy["data"] ** 2).mean())


def training(slope: float, size: float) -> Training:
    how = TrainingSettings(
        "pcd", 2, 12, BATCH, CHAINS, learning_rate=1e-9, gradient_penalty=slope, energy_penalty=size
    )
    return Training(machine(), DMALA(0.3), TrainingImages(images()), how, seed=5)


@pytest.mark.parametrize(("slope", "size"), [(0.0, 0.0), (0.7, 0.0), (0.0, 0.3), (0.7, 0.3)])
def test_the_update_follows_the_gradient_of_the_loss_written_out(slope: float, size: float) -> None:
    run = training(slope, size)
    run.advance(1)
    state = run.chains.state
    assert state is not None
    data = run.batches.at(0)
    model = machine()
    loss = total(model, state.theta[0], data, slope, size)
    expected = torch.autograd.grad(loss, list(model.parameters()))
    for parameter, gradient in zip(run.target.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, atol=1e-12, rtol=1e-10)
    # The record holds the energy difference alone.
    plain = total(model, state.theta[0], data, 0.0, 0.0)
    assert run.history[-1]["values"]["loss"] == pytest.approx(float(plain.detach()), abs=1e-12)


def test_their_gradients_are_those_of_finite_differences() -> None:
    model, data, samples = machine(), images(8, 3).double(), images(5, 4).double()

    def penalty() -> Tensor:
        states = torch.cat([samples, data]).requires_grad_(True)
        log_prob = model.log_prob(states)
        slope = gradient_penalty(log_prob[len(samples) :], states)
        return slope + energy_penalty(log_prob[: len(samples)], log_prob[len(samples) :])

    found = torch.autograd.grad(penalty(), list(model.parameters()))
    for parameter, gradient in zip(model.parameters(), found, strict=True):
        flat = parameter.data.view(-1)
        for place in range(len(flat)):
            kept, ends = flat[place].clone(), []
            for shift in (1e-6, -1e-6):
                flat[place] = kept + shift
                ends.append(float(penalty().detach()))
            flat[place] = kept
            assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(float(gradient.view(-1)[place]), abs=1e-6)


class Square(nn.Module):
    """U = a |x|^2 / 2, whose slope is a x: all numbers by hand."""

    def forward(self, x: Tensor) -> Tensor:
        return (x**2).sum(-1)


def test_by_hand() -> None:
    states = torch.tensor([[9.0, 9.0], [1.0, 2.0], [0.0, 3.0]], dtype=torch.float64, requires_grad=True)
    log_prob = Square()(states)
    # Of the last two: |2 x|^2 = 20 and 36.
    assert float(gradient_penalty(log_prob[1:], states).detach()) == pytest.approx(28.0)
    assert float(energy_penalty(log_prob[:1], log_prob[1:]).detach()) == pytest.approx(
        162.0**2 + (25 + 81) / 2
    )


def test_off_they_cost_no_second_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def called(*arguments: Any) -> Tensor:
        raise AssertionError("a penalty that is off is computed")

    monkeypatch.setattr(loss_module, "gradient_penalty", called)
    monkeypatch.setattr(loss_module, "energy_penalty", called)
    training(0.0, 0.0).advance(2)
    for on in ((1.0, 0.0), (0.0, 1.0)):
        with pytest.raises(AssertionError, match="off is computed"):
            training(*on).advance(1)
