"""The bench's peer in JAX samples the RBM, and the bench says so where JAX is absent."""

from __future__ import annotations

import importlib.util

import pytest
import torch

from runner.tools.bench.baselines.jax_peer import jax_rows
from runner.tools.bench.timing import BenchRows
from targets import RBM


def test_without_jax_the_bench_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    bench = BenchRows(str)
    jax_rows(bench, rounds=1)
    assert [(row[0], row[1]) for row in bench.found] == [
        ("DMALA step against JAX", "left out, pip install -e '.[jax]'")
    ]


def test_the_peer_has_the_distribution_of_the_rbm() -> None:
    jax = pytest.importorskip("jax", reason="the extra jax is not installed")
    from runner.tools.bench.baselines.jax_dmala import STEPS, jax_dmala

    target = RBM(4, 3).float().requires_grad_(False)
    target.weight.mul_(6.0)
    parts = (target.weight, target.hidden_bias, target.visible_bias)
    start, steps = jax_dmala(*(jax.numpy.asarray(each.numpy()) for each in parts), step_size=1.0)
    chains = start(jax.random.key(0), jax.numpy.zeros((20_000, 4)))
    for _ in range(10):
        chains, (acceptance, jump) = steps(chains)
    assert acceptance.shape == jump.shape == (STEPS, 20_000)
    theta = torch.tensor(jax.device_get(chains[1]))
    value, grad = target.log_prob_and_grad(theta)
    assert torch.allclose(torch.tensor(jax.device_get(chains[2])), value, atol=1e-5)
    assert torch.allclose(torch.tensor(jax.device_get(chains[3])), grad, atol=1e-5)
    counts = torch.bincount(target.space.index(theta), minlength=16).double()
    expected = 20_000 * target.probabilities()
    # Chi-squared with 15 degrees of freedom: above 57 once in a million.
    assert ((counts - expected) ** 2 / expected).sum() < 57.0
