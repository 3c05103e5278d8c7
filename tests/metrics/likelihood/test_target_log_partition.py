"""Exact log Z and mean log densities of any target, against sums written out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from metrics.likelihood import rbm_log_partition
from metrics.likelihood.target_log_partition import (
    evenly,
    exact_log_partition,
    mean_log_prob,
    reference_log_likelihood,
)
from targets.spaces import Binary, Categorical, Discrete, Ordinal
from tests.metrics.likelihood.test_ais import machine
from tests.metrics.likelihood.test_target_annealing import BlackBox, Continuous, Product
from tests.support.small_targets import random_target
from tests.support.targets import Bare


def rows(space: Discrete, number: int) -> Tensor:
    """Random states, uint8."""
    generator = torch.Generator().manual_seed(0)
    return space.initial((number,), generator, like=torch.empty(0, dtype=torch.float64)).to(torch.uint8)


@pytest.mark.parametrize("space", [Binary(9), Ordinal(3, 5), Categorical(3, 4)], ids=str)
def test_log_z_and_means_are_sums_over_states(space: Discrete) -> None:
    target, data = random_target(space), rows(space, 700)
    log_prob = target.log_prob(space.states())
    assert exact_log_partition(target) == pytest.approx(float(log_prob.exp().sum().log()), abs=1e-10)
    by_hand = sum(float(log_prob[index]) for index in space.index(data)) / 700
    assert mean_log_prob(target, data) == pytest.approx(by_hand, abs=1e-10)
    uniform = -torch.tensor(float(space.size), dtype=torch.float64).log().item()
    assert reference_log_likelihood(target, data) == pytest.approx(uniform, abs=1e-10)


def test_an_rbm_as_a_black_box_has_the_values_of_its_closed_forms() -> None:
    rbm = machine(11, 8)
    target, data = BlackBox(rbm), rows(rbm.space, 600)
    assert exact_log_partition(target) == pytest.approx(
        rbm_log_partition.exact_rbm_log_partition(rbm), abs=1e-10
    )
    assert mean_log_prob(target, data) == pytest.approx(
        rbm_log_partition.rbm_mean_log_prob(rbm, data), abs=1e-10
    )
    assert reference_log_likelihood(target, data) == pytest.approx(
        rbm_log_partition.rbm_reference_log_likelihood(rbm, data), abs=1e-10
    )


def test_single_precision_is_summed_in_double() -> None:
    target = Product(10, torch.float32)
    data = rows(Binary(10), 5000)
    wanted = target.log_prob(data.float()).double().mean()
    assert mean_log_prob(target, data) == pytest.approx(float(wanted), abs=1e-12)


def test_rows_are_spaced_evenly_and_none_is_taken_twice() -> None:
    data = torch.arange(23)
    assert evenly(data, 23) is data
    assert evenly(data, 100) is data
    assert evenly(data, 5).tolist() == [0, 4, 9, 13, 18]
    assert len(evenly(data, 22).unique()) == 22


def test_what_cannot_be_summed_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 65536 states, 131072 were given"):
        exact_log_partition(Bare(17))
    with pytest.raises(ValueError, match="enumeration needs a binary, ordinal or categorical space"):
        exact_log_partition(Continuous())
    for data in (torch.zeros(0, 3), torch.zeros(4, 2), torch.zeros(3)):
        for measure in (mean_log_prob, reference_log_likelihood):
            with pytest.raises(ValueError, match=r"data must have the shape \(states, 3\)"):
                measure(Bare(3), data)
