"""log Z and likelihoods where layers need several blocks, and what importance weights say, by loops."""

from __future__ import annotations

import math

import pytest
import torch

from metrics.likelihood import rbm_log_partition
from metrics.likelihood.importance_weights import log_mean_weight
from metrics.likelihood.rbm_annealing import log_reference_partition
from metrics.likelihood.rbm_log_partition import (
    exact_rbm_log_partition,
    rbm_mean_log_prob,
    rbm_reference_log_likelihood,
)
from tests.metrics.likelihood.test_ais import machine


@pytest.mark.parametrize("shape", [(30, 13), (13, 30), (12, 12)])
@pytest.mark.parametrize("block_units", [1, 4, 11, 20])
def test_log_z_does_not_depend_on_the_blocks(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], block_units: int
) -> None:
    monkeypatch.setattr(rbm_log_partition, "BLOCK_UNITS", block_units)
    rbm = machine(*shape, scale=0.8)
    if shape[0] < 20:
        wanted = float(rbm.log_prob(rbm.space.states()).logsumexp(0))
    else:
        hidden = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * shape[1])
        layer = torch.logaddexp(rbm.visible_logits(hidden), torch.zeros((), dtype=torch.float64)).sum(-1)
        wanted = float((layer + hidden @ rbm.hidden_bias).logsumexp(0))
    assert exact_rbm_log_partition(rbm) == pytest.approx(wanted, abs=1e-9)


def test_a_machine_without_couplings_factorises() -> None:
    rbm = machine(40, 20)
    with torch.no_grad():
        rbm.weight.zero_()
        rbm.hidden_bias.zero_()
        rbm.visible_bias.copy_(rbm.data_mean.logit())
    assert exact_rbm_log_partition(rbm) == pytest.approx(log_reference_partition(rbm), abs=1e-9)
    data = (torch.rand((7, 40), generator=torch.Generator().manual_seed(0)) < 0.3).double()
    found = rbm_mean_log_prob(rbm, data) - exact_rbm_log_partition(rbm)
    assert found == pytest.approx(rbm_reference_log_likelihood(rbm, data), abs=1e-9)


def test_large_couplings_do_not_overflow() -> None:
    rbm = machine(12, 10, scale=300.0)
    wanted = float(rbm.log_prob(rbm.space.states()).max())
    assert exact_rbm_log_partition(rbm) == pytest.approx(wanted, rel=1e-6)


def test_likelihoods_do_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rbm = machine(9, 5)
    data = (torch.rand((50, 9), generator=torch.Generator().manual_seed(0)) < 0.3).to(torch.uint8)
    whole = rbm_mean_log_prob(rbm, data), rbm_reference_log_likelihood(rbm, data)
    monkeypatch.setattr(rbm_log_partition, "BLOCK_IMAGES", 7)
    assert (rbm_mean_log_prob(rbm, data), rbm_reference_log_likelihood(rbm, data)) == pytest.approx(
        whole, abs=1e-10
    )


@pytest.mark.parametrize("shape", [(0, 9), (5, 8), (9,)])
def test_other_images_are_refused(shape: tuple[int, ...]) -> None:
    for function in (rbm_mean_log_prob, rbm_reference_log_likelihood):
        with pytest.raises(ValueError, match=r"data must have the shape \(images, 9\)"):
            function(machine(9, 5), torch.zeros(shape))


def test_weights_are_summed_up_as_a_loop_would() -> None:
    logs = (3.0 * torch.randn(40, generator=torch.Generator().manual_seed(0), dtype=torch.float64)).tolist()
    weights = [math.exp(value) for value in logs]
    mean = sum(weights) / 40
    spread = math.sqrt(sum((weight - mean) ** 2 for weight in weights) / 39)
    for offset in (0.0, -2000.0, 2000.0):
        found = log_mean_weight(torch.tensor(logs, dtype=torch.float64) + offset)
        assert found.value == pytest.approx(math.log(mean) + offset, abs=1e-9)
        assert found.standard_error == pytest.approx(spread / math.sqrt(40) / mean, rel=1e-9)
        assert found.effective_sample_size == pytest.approx(
            sum(weights) ** 2 / sum(weight**2 for weight in weights), rel=1e-9
        )


def test_the_ends_of_the_effective_sample_size() -> None:
    equal = log_mean_weight(torch.zeros(30))
    single = log_mean_weight(torch.tensor([0.0] + [-500.0] * 29))
    assert (equal.effective_sample_size, equal.standard_error) == pytest.approx((30.0, 0.0))
    assert (single.effective_sample_size, single.standard_error) == pytest.approx((1.0, 1.0))
    assert (equal.low, equal.high) == pytest.approx((0.0, 0.0))


def test_the_interval_covers_as_it_says() -> None:
    # Mean 1; 400 intervals at about 94.5 %: fewer than 350 covers or none missed happens in < 1e-6 of cases.
    generator = torch.Generator().manual_seed(0)
    covered = 0
    for seed in range(400):
        logs = 0.3 * torch.randn(100, generator=generator, dtype=torch.float64) - 0.045
        found = log_mean_weight(logs, seed)
        covered += found.low <= 0.0 <= found.high
    assert 350 <= covered < 400


def test_a_reversed_estimate_swaps_the_ends() -> None:
    found = log_mean_weight(torch.randn(50, generator=torch.Generator().manual_seed(0)))
    back = found.reversed(10.0)
    assert (back.low, back.value, back.high) == (10.0 - found.high, 10.0 - found.value, 10.0 - found.low)
    assert back.low < back.value < back.high
