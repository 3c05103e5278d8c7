"""The restricted Boltzmann machine against sums over its hidden states, and its first states."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from targets.models.rbm import RBM
from targets.sum_log import sum_log


def rough(n_visible: int = 6, n_hidden: int = 4, seed: int = 1, scale: float = 4.0) -> RBM:
    """A machine in float64 with large weights and biases that are not zero."""
    machine = RBM(n_visible, n_hidden, mean=torch.linspace(0.2, 0.8, n_visible), seed=seed)
    machine.requires_grad_(False)
    machine.weight.mul_(scale)
    machine.hidden_bias.copy_(torch.linspace(-1.0, 1.5, n_hidden))
    return machine


def summed_over_hidden(machine: RBM, visible: Tensor) -> float:
    """log of the sum over h of exp(h'Wv + c'h + b'v), term by term."""
    weight, c, b = (t.tolist() for t in (machine.weight, machine.hidden_bias, machine.visible_bias))
    v, terms = visible.tolist(), []
    for h in itertools.product((0, 1), repeat=machine.n_hidden):
        coupling = sum(h[j] * weight[j][i] * v[i] for j in range(len(h)) for i in range(len(v)))
        terms.append(
            coupling
            + sum(x * y for x, y in zip(c, h, strict=True))
            + sum(x * y for x, y in zip(b, v, strict=True))
        )
    return math.log(sum(math.exp(term) for term in terms))


def test_log_prob_is_the_sum_over_the_hidden_states() -> None:
    machine = rough()
    states = machine.space.states()
    expected = torch.tensor([summed_over_hidden(machine, v) for v in states], dtype=torch.float64)
    torch.testing.assert_close(machine.log_prob(states), expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(machine.log_prob_and_grad(states)[0], expected, atol=1e-12, rtol=0)
    known = machine.log_prob_of(states, machine.hidden_logits(states))
    torch.testing.assert_close(known, expected, atol=1e-12, rtol=0)


def test_probabilities_are_those_of_the_joint_summed_over_the_hidden_states() -> None:
    machine = rough()
    log_prob = torch.tensor(
        [summed_over_hidden(machine, v) for v in machine.space.states()], dtype=torch.float64
    )
    expected = log_prob.exp() / log_prob.exp().sum()
    torch.testing.assert_close(machine.probabilities(), expected, atol=1e-14, rtol=1e-12)
    assert machine.probabilities().sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("shape", [(), (7,), (3, 2, 5)])
def test_the_gradient_is_that_of_autograd(shape: tuple[int, ...]) -> None:
    machine = rough(n_visible=9, n_hidden=5)
    theta = torch.rand((*shape, 9), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    leaf = theta.clone().requires_grad_(True)
    value = machine.log_prob(leaf)
    (expected,) = torch.autograd.grad(value.sum(), leaf)
    log_prob, grad = machine.log_prob_and_grad(theta)
    assert log_prob.shape == shape
    torch.testing.assert_close(log_prob, value.detach(), atol=1e-12, rtol=0)
    torch.testing.assert_close(grad, expected, atol=1e-12, rtol=0)


def test_the_parameters_learn_from_log_prob_and_not_from_a_samplers_step() -> None:
    machine = RBM(6, 4, seed=2)
    theta = machine.space.states()[:10]
    machine.log_prob(theta).sum().backward()
    hidden = machine.hidden_logits(theta).sigmoid().detach()
    assert machine.weight.grad is not None
    torch.testing.assert_close(machine.weight.grad, hidden.T @ theta)
    assert not any(tensor.requires_grad for tensor in machine.log_prob_and_grad(theta))


def test_at_logits_of_exactly_zero_the_gradient_is_half_the_weights() -> None:
    machine = RBM(6, 4, seed=2)
    grad = machine.log_prob_and_grad(torch.zeros(6, dtype=torch.float64))[1]
    torch.testing.assert_close(grad, 0.5 * machine.weight.sum(0).detach() + machine.visible_bias.detach())


@pytest.mark.parametrize("size", [1.0, 100.0, 1e4])
def test_large_weights_neither_overflow_nor_lose_digits_in_float32(size: float) -> None:
    machine = rough(n_visible=100, n_hidden=70, scale=size).float()
    exact = rough(n_visible=100, n_hidden=70).requires_grad_(False)
    exact.load_state_dict({name: value.double() for name, value in machine.state_dict().items()})
    theta = machine.initial((50,), torch.Generator().manual_seed(0))
    log_prob, grad = machine.log_prob_and_grad(theta)
    expected = exact.log_prob_and_grad(theta.double())
    torch.testing.assert_close(log_prob.double(), expected[0], rtol=2e-6, atol=1e-4)
    # A hidden unit that the weights nearly tie feels the rounding of its logit.
    torch.testing.assert_close(grad.double(), expected[1], rtol=0, atol=1e-5 * size)


@pytest.mark.parametrize("length", [1, 2, 3, 15, 16, 17, 127, 255, 256, 271, 500, 784])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sums_of_logs_are_those_of_log1p(length: int, dtype: torch.dtype) -> None:
    odds = torch.rand((5, 3, length), generator=torch.Generator().manual_seed(0), dtype=dtype)
    odds[0, 0] = 1.0
    odds[0, 1] = 0.0
    expected = odds.double().log1p().sum(-1)
    error = (sum_log(1.0 + odds).double() - expected).abs().max()
    assert error <= 2 * length**0.5 * torch.finfo(dtype).eps * max(1.0, length / 8)


def test_first_states_have_the_mean_of_the_data() -> None:
    """Each of 20 means of 100,000 bits within Hoeffding's band; false alarm 1e-6."""
    mean = torch.linspace(0.0, 1.0, 20, dtype=torch.float64)
    machine, draws = RBM(20, 3, mean=mean), 100_000
    theta = machine.initial((draws,), torch.Generator().manual_seed(3))
    assert machine.space.contains(theta).all()
    band = math.sqrt(math.log(2 * 20 / 1e-6) / (2 * draws))
    assert (theta.mean(0) - mean.clamp(0.01, 0.99)).abs().max() <= band


def test_weights_follow_their_seed_and_nothing_else() -> None:
    torch.manual_seed(1)
    one = RBM(7, 4, seed=5)
    torch.manual_seed(2)
    same, other = RBM(7, 4, mean=torch.full((7,), 0.1), seed=5), RBM(7, 4, seed=6)
    assert torch.equal(one.weight, same.weight)
    assert not torch.equal(one.weight, other.weight)
    assert one.weight.abs().max() <= 7**-0.5
    torch.testing.assert_close(same.visible_bias.detach().sigmoid(), torch.full((7,), 0.1).double())
    assert (one.hidden_bias == 0).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_visible": 0}, "n_visible must be a whole number of at least 1, 0 was given"),
        ({"n_hidden": 0}, "n_hidden must be a whole number of at least 1, 0 was given"),
        ({"n_hidden": -3}, "n_hidden"),
        ({"n_hidden": 2.5}, "n_hidden"),
        ({"n_hidden": True}, "n_hidden"),
        ({"mean": torch.zeros(5)}, r"mean must have the shape \(6,\), \(5,\) was given"),
    ],
)
def test_bad_machines_are_refused_in_one_sentence(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        RBM(**{"n_visible": 6, "n_hidden": 4, **arguments})  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
