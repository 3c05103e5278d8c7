"""The restricted Boltzmann machine against sums over its hidden states, and its first states."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from targets.compiling import onednn
from targets.compiling.onednn import product
from targets.models.rbm import RBM
from targets.sum_log import sum_log


def rough(n_visible: int = 6, n_hidden: int = 4, seed: int = 1, scale: float = 4.0) -> RBM:
    """An RBM in float64 with large weights and biases that are not zero."""
    rbm = RBM(n_visible, n_hidden, mean=torch.linspace(0.2, 0.8, n_visible), seed=seed)
    rbm.requires_grad_(False)
    rbm.weight.mul_(scale)
    rbm.hidden_bias.copy_(torch.linspace(-1.0, 1.5, n_hidden))
    return rbm


def summed_over_hidden(rbm: RBM, visible: Tensor) -> float:
    """log of the sum over h of exp(h'Wv + c'h + b'v), term by term."""
    weight, c, b = (t.tolist() for t in (rbm.weight, rbm.hidden_bias, rbm.visible_bias))
    v, terms = visible.tolist(), []
    for h in itertools.product((0, 1), repeat=rbm.n_hidden):
        coupling = sum(h[j] * weight[j][i] * v[i] for j in range(len(h)) for i in range(len(v)))
        biases = sum(x * y for x, y in zip([*c, *b], [*h, *v], strict=True))
        terms.append(coupling + biases)
    return math.log(sum(math.exp(term) for term in terms))


def test_log_prob_and_probabilities_are_sums_over_the_hidden_states() -> None:
    rbm = rough()
    states = rbm.space.states()
    expected = torch.tensor([summed_over_hidden(rbm, v) for v in states], dtype=torch.float64)
    torch.testing.assert_close(rbm.log_prob(states), expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(rbm.log_prob_and_grad(states)[0], expected, atol=1e-12, rtol=0)
    known = rbm.log_prob_of(states, rbm.hidden_logits(states))
    torch.testing.assert_close(known, expected, atol=1e-12, rtol=0)
    weights = expected.exp()
    torch.testing.assert_close(rbm.probabilities(), weights / weights.sum(), atol=1e-14, rtol=1e-12)
    assert rbm.probabilities().sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("shape", [(), (7,), (3, 2, 5)])
def test_the_gradient_is_that_of_autograd(shape: tuple[int, ...]) -> None:
    rbm = rough(n_visible=9, n_hidden=5)
    theta = torch.rand((*shape, 9), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    leaf = theta.clone().requires_grad_(True)
    value = rbm.log_prob(leaf)
    (expected,) = torch.autograd.grad(value.sum(), leaf)
    log_prob, grad = rbm.log_prob_and_grad(theta)
    assert log_prob.shape == shape
    torch.testing.assert_close(log_prob, value.detach(), atol=1e-12, rtol=0)
    torch.testing.assert_close(grad, expected, atol=1e-12, rtol=0)


def test_only_log_prob_has_gradients_of_the_parameters() -> None:
    rbm = RBM(6, 4, seed=2)
    theta = rbm.space.states()[:10]
    rbm.log_prob(theta).sum().backward()
    hidden = rbm.hidden_logits(theta).sigmoid().detach()
    assert rbm.weight.grad is not None
    torch.testing.assert_close(rbm.weight.grad, hidden.T @ theta)
    assert not any(tensor.requires_grad for tensor in rbm.log_prob_and_grad(theta))
    # Where all logits are exactly zero, the gradient is half of the weights.
    grad = rbm.log_prob_and_grad(torch.zeros(6, dtype=torch.float64))[1]
    torch.testing.assert_close(grad, 0.5 * rbm.weight.sum(0).detach() + rbm.visible_bias.detach())


@pytest.mark.parametrize("size", [1.0, 100.0, 1e4])
def test_large_weights_are_accurate_in_float32(size: float) -> None:
    rbm = rough(n_visible=100, n_hidden=70, scale=size).float()
    exact = rough(n_visible=100, n_hidden=70).requires_grad_(False)
    exact.load_state_dict({name: value.double() for name, value in rbm.state_dict().items()})
    theta = rbm.initial((50,), torch.Generator().manual_seed(0))
    log_prob, grad = rbm.log_prob_and_grad(theta)
    expected = exact.log_prob_and_grad(theta.double())
    torch.testing.assert_close(log_prob.double(), expected[0], rtol=2e-6, atol=1e-4)
    # A hidden unit with a logit near zero has a gradient that depends on the rounding of the logit.
    torch.testing.assert_close(grad.double(), expected[1], rtol=0, atol=1e-5 * size)


def test_values_are_those_of_either_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a size at which a CPU of AMD has oneDNN multiply, and one of Intel MKL."""
    rbm = rough(n_visible=784, n_hidden=120, scale=1.0).float()
    theta = rbm.initial((2, 30), torch.Generator().manual_seed(0))
    found, calls = {}, []
    monkeypatch.setattr(onednn, "product", lambda *given: calls.append(1) or product(*given))
    for intel in (True, False):
        monkeypatch.setattr(onednn, "has_intel_cpu", lambda intel=intel: intel)
        with torch.no_grad():
            found[intel] = (rbm.log_prob(theta), *rbm.log_prob_and_grad(theta), rbm.hidden_logits(theta))
    assert len(calls) == (4 if hasattr(torch.ops.mkldnn, "_linear_pointwise") else 0)
    for one, other in zip(*found.values(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("length", [1, 2, 3, 15, 16, 17, 127, 255, 256, 271, 500, 784])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sums_of_logs_are_those_of_log1p(length: int, dtype: torch.dtype) -> None:
    odds = torch.rand((5, 3, length), generator=torch.Generator().manual_seed(0), dtype=dtype)
    odds[0, 0] = 1.0
    odds[0, 1] = 0.0
    expected = odds.double().log1p().sum(-1)
    error = (sum_log(1.0 + odds).double() - expected).abs().max()
    assert error <= 2 * length**0.5 * torch.finfo(dtype).eps * max(1.0, length / 8)


def test_initial_states_have_the_mean_of_the_data() -> None:
    """Each of 20 means of 100,000 bits within Hoeffding's band; false alarm 1e-6."""
    mean = torch.linspace(0.0, 1.0, 20, dtype=torch.float64)
    rbm, draws = RBM(20, 3, mean=mean), 100_000
    theta = rbm.initial((draws,), torch.Generator().manual_seed(3))
    assert rbm.space.contains(theta).all()
    band = math.sqrt(math.log(2 * 20 / 1e-6) / (2 * draws))
    assert (theta.mean(0) - mean.clamp(0.01, 0.99)).abs().max() <= band


def test_weights_depend_on_their_seed_alone() -> None:
    torch.manual_seed(1)
    one = RBM(7, 4, seed=5)
    torch.manual_seed(2)
    same, other = RBM(7, 4, mean=torch.full((7,), 0.1), seed=5), RBM(7, 4, seed=6)
    assert torch.equal(one.weight, same.weight)
    assert not torch.equal(one.weight, other.weight)
    assert one.weight.abs().max() <= 7**-0.5
    torch.testing.assert_close(same.visible_bias.detach().sigmoid(), torch.full((7,), 0.1).double())
    assert (one.hidden_bias == 0).all()
