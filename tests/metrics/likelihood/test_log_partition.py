"""Exact log Z and mean log densities of RBMs and of any target, against sums written out."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from metrics.likelihood import rbm_log_partition
from metrics.likelihood.rbm_annealing import log_reference_partition
from metrics.likelihood.rbm_log_partition import exact_rbm_log_partition, rbm_mean_log_prob, softplus_sum
from metrics.likelihood.target_log_partition import (
    evenly,
    exact_log_partition,
    known_log_partition,
    mean_log_prob,
    reference_log_likelihood,
)
from targets import RBM, Binary, Categorical, Discrete, Ordinal
from tests.support.annealing import BlackBox, Continuous, Product, random_rbm
from tests.support.targets.modes import Bare
from tests.support.targets.small_targets import random_target


def rows(space: Discrete, number: int) -> Tensor:
    """Random states, uint8."""
    generator = torch.Generator().manual_seed(0)
    return space.initial((number,), generator, like=torch.empty(0, dtype=torch.float64)).to(torch.uint8)


@pytest.mark.parametrize(
    ("shape", "blocks"),
    [((3, 2), 11), ((5, 9), 11), ((4, 14), 2), ((30, 12), 4), ((12, 30), 11), ((12, 12), 1)],
)
def test_log_z_is_the_sum_over_a_layer(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], blocks: int
) -> None:
    monkeypatch.setattr(rbm_log_partition, "BLOCK_UNITS", blocks)
    rbm = random_rbm(*shape, scale=0.8)
    if shape[0] < 20:
        wanted = rbm.log_prob(Binary(shape[0]).states())
    else:
        hidden = Binary(shape[1]).states()
        layer = torch.logaddexp(rbm.visible_logits(hidden), torch.zeros((), dtype=torch.float64)).sum(-1)
        wanted = layer + hidden @ rbm.hidden_bias
    assert exact_rbm_log_partition(rbm) == pytest.approx(float(wanted.logsumexp(0)), abs=1e-9)


def test_large_couplings_do_not_overflow_and_a_large_rbm_is_refused() -> None:
    rbm = random_rbm(12, 10, scale=300.0)
    wanted = float(rbm.log_prob(rbm.space.states()).max())
    assert exact_rbm_log_partition(rbm) == pytest.approx(wanted, rel=1e-6)
    with pytest.raises(ValueError, match="at most 20 hidden or visible units, n_hidden=21 and n_visible=22"):
        exact_rbm_log_partition(RBM(22, 21))


def test_an_rbm_without_couplings_factorises() -> None:
    rbm = random_rbm(40, 14)
    with torch.no_grad():
        rbm.weight.zero_()
        rbm.hidden_bias.zero_()
        rbm.visible_bias.copy_(rbm.data_mean.logit())
    assert exact_rbm_log_partition(rbm) == pytest.approx(log_reference_partition(rbm), abs=1e-9)
    data = (torch.rand((7, 40), generator=torch.Generator().manual_seed(0)) < 0.3).double()
    found = rbm_mean_log_prob(rbm, data) - exact_rbm_log_partition(rbm)
    assert found == pytest.approx(reference_log_likelihood(rbm, data), abs=1e-9)


@pytest.mark.parametrize("blocks", [7, 4096])
def test_likelihoods_are_means_of_exact_probabilities(monkeypatch: pytest.MonkeyPatch, blocks: int) -> None:
    monkeypatch.setattr(rbm_log_partition, "BLOCK_IMAGES", blocks)
    rbm = random_rbm(6, 4)
    data = (torch.rand((50, 6), generator=torch.Generator().manual_seed(0)) < 0.4).to(torch.uint8)
    log_p = rbm.probabilities().log()[rbm.space.index(data)].mean()
    assert rbm_mean_log_prob(rbm, data) - exact_rbm_log_partition(rbm) == pytest.approx(float(log_p))
    mean = rbm.data_mean
    by_hand = torch.where(data > 0, mean.log(), torch.log1p(-mean)).sum(-1).mean()
    assert reference_log_likelihood(rbm, data) == pytest.approx(float(by_hand))


@pytest.mark.parametrize("space", [Binary(9), Ordinal(3, 5), Categorical(3, 4)], ids=str)
def test_log_z_and_means_of_any_target_are_sums_over_states(space: Discrete) -> None:
    target, data = random_target(space), rows(space, 700)
    log_prob = target.log_prob(space.states())
    assert exact_log_partition(target) == pytest.approx(float(log_prob.exp().sum().log()), abs=1e-10)
    by_hand = sum(float(log_prob[index]) for index in space.index(data)) / 700
    assert mean_log_prob(target, data) == pytest.approx(by_hand, abs=1e-10)
    assert reference_log_likelihood(target, data) == pytest.approx(-math.log(space.size), abs=1e-10)


def test_an_rbm_as_a_black_box_has_the_values_of_its_closed_forms() -> None:
    rbm = random_rbm(11, 8)
    target, data = BlackBox(rbm), rows(rbm.space, 600)
    for found, wanted in (
        (exact_log_partition(target), exact_rbm_log_partition(rbm)),
        (mean_log_prob(target, data), rbm_mean_log_prob(rbm, data)),
        (reference_log_likelihood(target, data), reference_log_likelihood(rbm, data)),
    ):
        assert found == pytest.approx(wanted, abs=1e-10)


class NeedsBeta(Bare):
    """Its log Z has no default of beta."""

    def log_partition(self, beta: Tensor | float) -> Tensor:
        return torch.as_tensor(7.0 * beta)


def test_a_log_partition_without_a_default_is_asked_at_beta_1() -> None:
    assert known_log_partition(NeedsBeta(3)) == 7.0


def test_single_precision_is_summed_in_double() -> None:
    target, data = Product(10, torch.float32), rows(Binary(10), 5000)
    wanted = target.log_prob(data.float()).double().mean()
    assert mean_log_prob(target, data) == pytest.approx(float(wanted), abs=1e-12)


def test_rows_are_spaced_evenly_and_none_is_taken_twice() -> None:
    data = torch.arange(23)
    assert evenly(data, 23) is data
    assert evenly(data, 100) is data
    assert evenly(data, 5).tolist() == [0, 4, 9, 13, 18]
    assert len(evenly(data, 22).unique()) == 22


def test_what_cannot_be_summed_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 1048576 states, 2097152 were given"):
        exact_log_partition(Bare(21))
    with pytest.raises(ValueError, match="enumeration needs a binary, ordinal or categorical space"):
        exact_log_partition(Continuous())
    for data in (torch.zeros(0, 3), torch.zeros(4, 2), torch.zeros(3)):
        for measure in (mean_log_prob, reference_log_likelihood):
            with pytest.raises(ValueError, match=r"data must have the shape \(states, 3\)"):
                measure(Bare(3), data)
        with pytest.raises(ValueError, match=r"data must have the shape \(images, 3\)"):
            rbm_mean_log_prob(random_rbm(3, 2), data)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_softplus_sums_hold_for_any_number_of_units_and_any_size(dtype: torch.dtype) -> None:
    for units in (1, 999, 1000, 1001, 2500):
        logits = 20.0 * torch.randn((3, units), generator=torch.Generator().manual_seed(0), dtype=dtype)
        wanted = torch.logaddexp(0.3 * logits.double(), torch.zeros((), dtype=torch.float64)).sum(-1)
        assert torch.allclose(softplus_sum(logits, 0.3), wanted, rtol=1e-13, atol=1e-15 * units)
    for value, total in ((1e4, 2000 * 1e4), (-1e4, 0.0), (0.0, 2000 * math.log(2))):
        found = softplus_sum(torch.full((2000,), value, dtype=dtype))
        assert found.item() == pytest.approx(total, rel=1e-12, abs=1e-300)
