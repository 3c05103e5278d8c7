"""What an annealing promises besides its estimate: the weights' formula, whose bits, no waiting, resume."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch.nn.functional import softplus

from metrics.likelihood.ais_schedule import schedule
from metrics.likelihood.rbm_annealing import (
    RBMAnnealing,
    UntemperedRBMAnnealing,
    log_reference_partition,
    reference_draws,
)
from metrics.likelihood.rbm_log_partition import softplus_sum
from targets.models.rbm import RBM
from targets.randomness import Streams
from tests.metrics.likelihood.test_ais import machine
from tests.support.no_host_sync import NoHostSync

KINDS = pytest.mark.parametrize("kind", [RBMAnnealing, UntemperedRBMAnnealing])


def walk(kind: type[RBMAnnealing], rbm: RBM, seeds: list[int], steps: int = 30) -> RBMAnnealing:
    streams = Streams(seeds, "walk")
    return kind(rbm, schedule(steps), reference_draws(rbm, 16, streams), streams)


def tempered_log_prob(rbm: RBM, theta: torch.Tensor, beta: float) -> torch.Tensor:
    """log p*_beta by its definition: log of the sum over h of the tempered joint."""
    bias = (1.0 - beta) * rbm.data_mean.logit() + beta * rbm.visible_bias
    return theta @ bias + softplus(beta * rbm.hidden_logits(theta)).sum(-1)


def test_log_weights_are_the_ratios_of_neighbouring_laws() -> None:
    rbm = machine(9, 7, scale=1.0)
    run, betas = walk(RBMAnnealing, rbm, [0, 1], steps=6), schedule(6).tolist()
    total = torch.zeros(2, 16, dtype=torch.float64)
    for before, after in pairwise(betas):
        total += tempered_log_prob(rbm, run.visible, after) - tempered_log_prob(rbm, run.visible, before)
        run.advance(1)
    assert torch.allclose(run.log_weights, total, atol=1e-10, rtol=0)


def test_untempered_log_weights_are_averages_of_the_gap_to_the_base() -> None:
    rbm = machine(9, 7, scale=1.0)
    run = walk(UntemperedRBMAnnealing, rbm, [0], steps=5)
    total = torch.zeros(1, 16, dtype=torch.float64)
    for _ in range(5):
        base = run.visible @ rbm.data_mean.logit() + torch.log1p(-rbm.data_mean).sum()
        total += (rbm.log_prob(run.visible) - base) / 5
        run.advance(1)
    assert torch.allclose(run.log_weights, total, atol=1e-10, rtol=0)


def test_log_z_of_the_base_is_that_of_the_tempered_law_at_0() -> None:
    rbm = machine(8, 5)
    brute = tempered_log_prob(rbm, rbm.space.states(), 0.0).logsumexp(0)
    assert log_reference_partition(rbm) == pytest.approx(brute.item(), abs=1e-10)


@KINDS
def test_a_seed_has_the_same_bits_alone_and_beside_others(kind: type[RBMAnnealing]) -> None:
    rbm = machine(70, 50, scale=0.3).float()
    together, alone = walk(kind, rbm, [4, 9, 2]), walk(kind, rbm, [9])
    together.advance(30)
    alone.advance(30)
    assert torch.equal(together.log_weights[1], alone.log_weights[0])
    assert torch.equal(together.visible[1], alone.visible[0])
    assert not torch.equal(together.log_weights[0], together.log_weights[1])


@KINDS
def test_no_step_waits_for_the_device(kind: type[RBMAnnealing]) -> None:
    run = walk(kind, machine(9, 7), [0])
    with NoHostSync():
        run.advance(5)
    assert run.step == 5


@KINDS
@pytest.mark.parametrize("stops", [[0], [1, 7], [29]])
def test_the_saved_state_holds_the_random_numbers_too(kind: type[RBMAnnealing], stops: list[int]) -> None:
    rbm = machine(20, 12).float()
    whole = walk(kind, rbm, [1, 2])
    whole.advance(1000)
    part = walk(kind, rbm, [1, 2])
    for stop in stops:
        part.advance(stop)
        saved = part.state_dict()
        part.advance(3)  # what happens after saving leaves no trace in what was saved
        part = walk(kind, rbm, [1, 2])
        part.advance(2)
        part.load_state_dict(saved)
    part.advance(1000)
    assert part.step == whole.step == whole.steps == 30
    assert torch.equal(part.log_weights, whole.log_weights)
    assert torch.equal(part.visible, whole.visible)


def test_another_walk_s_state_is_refused() -> None:
    rbm = machine(6, 4)
    saved = walk(RBMAnnealing, rbm, [0], steps=10).state_dict()
    with pytest.raises(ValueError, match="other temperatures"):
        walk(RBMAnnealing, rbm, [0], steps=11).load_state_dict(saved)
    with pytest.raises(ValueError, match="visible must have the shape"):
        walk(RBMAnnealing, rbm, [0, 1], steps=10).load_state_dict(saved)


def test_the_walk_leaves_the_starting_states_and_the_machine_alone() -> None:
    rbm, streams = machine(6, 4), Streams([0], "walk")
    start = reference_draws(rbm, 16, streams)
    kept, weight = start.clone(), rbm.weight.clone()
    RBMAnnealing(rbm, schedule(10), start, streams).advance(10)
    assert torch.equal(start, kept)
    assert torch.equal(rbm.weight, weight)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("units", [1, 999, 1000, 1001, 2500])
def test_softplus_sums_hold_for_any_number_of_units(units: int, dtype: torch.dtype) -> None:
    logits = 20.0 * torch.randn((3, units), generator=torch.Generator().manual_seed(0), dtype=dtype)
    wanted = torch.logaddexp(0.3 * logits.double(), torch.zeros((), dtype=torch.float64)).sum(-1)
    assert torch.allclose(softplus_sum(logits, 0.3), wanted, rtol=1e-13, atol=1e-15 * units)


def test_softplus_sums_neither_overflow_nor_vanish() -> None:
    for value, wanted in ((1e4, 2000 * 1e4), (-1e4, 0.0), (0.0, 2000 * 0.6931471805599453)):
        logits = torch.full((2000,), value, dtype=torch.float32)
        assert softplus_sum(logits).item() == pytest.approx(wanted, rel=1e-12, abs=1e-300)
