"""log-MMD against a reference sample: double loops, window, floor, first hit, and the time slice."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from torch import Tensor

from metrics.discrepancy.log_mmd import LogMMD
from metrics.discrepancy.log_mmd_slice import CHOICES, LogMMDSlice, TimeSlice
from metrics.statistics.last_draws import LastDraws
from metrics.two_sample.hamming_kernel import HammingKernel
from metrics.two_sample.mmd_statistics import (
    centred_second_moment,
    detection_constant,
    null_sd,
    required_sample_size,
)
from metrics.two_sample.reference_sample import ReferenceSample
from targets.models.rbm import RBM
from tests.support.measuring import context, measure, silent
from tests.support.two_sample import bits, double_loops

D, SEEDS, CHAINS, STEPS = 9, 3, 6, 43
MEAN = torch.linspace(0.2, 0.7, D, dtype=torch.float64)
OURS = partial(LogMMD, every=4, window=5, references=20, share=0.3)
SLICE = partial(LogMMDSlice, draws=8, references=20)


def model(dtype: torch.dtype = torch.float64) -> RBM:
    """An RBM whose reference samples are 31 and 27 draws of independent bits."""
    rbm = RBM(D, 4).to(dtype).requires_grad_(False)
    rbm.reference, rbm.held_out = bits(MEAN, 31, seed=1).to(dtype), bits(MEAN, 27, seed=2).to(dtype)
    return rbm


def draws(steps: int = STEPS) -> Tensor:
    """Chains with the distribution of the reference sample, ``(steps, SEEDS, CHAINS, D)``."""
    return bits(MEAN, steps, SEEDS, CHAINS, seed=3)


def log_v(x: Tensor, rbm: RBM) -> float:
    return math.log(double_loops(x, rbm.reference[:20])[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_equal_double_loops(dtype: torch.dtype) -> None:
    rbm, theta = model(dtype), draws().to(dtype)
    result = measure(context(rbm, SEEDS, CHAINS), [OURS], theta).result()
    evaluated = range(4, STEPS + 1, 4)
    floor = sum(log_v(group, rbm) for group in rbm.held_out[:24].reshape(4, 6, D)) / 4
    gram = HammingKernel(D).matrix(rbm.reference, rbm.reference)
    sd0 = null_sd(centred_second_moment(gram), CHAINS, 31).item()
    for seed in range(SEEDS):
        series = {step: log_v(theta[step - 1, seed], rbm) for step in evaluated}
        mmd_u = sum(double_loops(theta[step - 1, seed], rbm.reference)[1] for step in evaluated[-3:]) / 3
        close = partial(pytest.approx, abs=1e-10)
        assert result["log_mmd"][seed].item() == close(sum(series[step] for step in evaluated[-3:]) / 3)
        assert result["mmd_u"][seed].item() == close(mmd_u)
        assert result["log_mmd_now"][seed].item() == close(log_v(theta[STEPS - 1, seed], rbm))
        assert result["mmd_u_sd0"][seed].item() == close(sd0)
        assert result["log_mmd_floor"][seed].item() == close(floor)
        hit = next((step for step, value in series.items() if value <= floor + 0.3), math.nan)
        assert result["hit_step"][seed].item() == pytest.approx(hit, nan_ok=True)
        apart = required_sample_size(result["mmd_u"][seed], detection_constant(gram)).item()
        assert result["samples_apart"][seed].item() == pytest.approx(apart, nan_ok=True)
    assert result["hit_step"].isfinite().any(), "the chains are exact: some reach the floor"


def test_values_are_right_at_the_published_size() -> None:
    """100 chains, 500 references, 784 pixels: the U- and V-statistic from whole gram matrices."""
    pi = torch.rand(784, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 0.3
    rbm = RBM(784, 1).float().requires_grad_(False)
    rbm.reference, rbm.held_out = bits(pi, 600, seed=1).float(), bits(pi, 100, seed=2).float()
    theta = bits(pi, 1, 1, 100, seed=3).float()
    result = measure(context(rbm, 1, 100), [partial(LogMMD, every=1)], theta).result()

    def gram(a: Tensor, b: Tensor) -> Tensor:
        return torch.exp(-torch.cdist(a.double(), b.double(), p=0) / 784)

    x, y = theta[0, 0], rbm.reference
    v = gram(x, x).mean() + gram(y[:500], y[:500]).mean() - 2 * gram(x, y[:500]).mean()
    u = (gram(x, x).sum() - 100) / 9900 + (gram(y, y).sum() - 600) / (600 * 599) - 2 * gram(x, y).mean()
    assert result["log_mmd"].exp().item() == pytest.approx(v.item(), abs=1e-12)
    assert result["mmd_u"].item() == pytest.approx(u.item(), abs=1e-12)


def test_chains_far_away_never_reach_the_floor() -> None:
    theta = torch.ones(8, SEEDS, CHAINS, D, dtype=torch.float64)
    result = measure(context(model(), SEEDS, CHAINS), [OURS], theta).result()
    assert result["hit_step"].isnan().all()
    assert (result["log_mmd"] > result["log_mmd_floor"] + 0.3).all()
    assert (result["samples_apart"] >= 2).all()


def test_chains_that_are_the_reference_are_at_no_distance() -> None:
    rbm = model()
    theta = rbm.reference[:20].expand(4, 1, 20, D)
    result = measure(context(rbm, 1, 20), [OURS], theta).result()
    assert result["log_mmd"].item() < -30
    assert result["hit_step"].item() == 4


@pytest.mark.parametrize(("steps", "averaged"), [(1, 0), (9, 1), (13, 1), (25, 2), (40, 3), (60, 5), (80, 5)])
def test_the_end_is_a_share_of_the_steps_and_at_most_the_window(steps: int, averaged: int) -> None:
    rbm, theta = model(), draws(80)[:steps]
    options = partial(LogMMD, every=2, window=5, references=20, share=0.15)
    result = measure(context(rbm, SEEDS, CHAINS), [options, SLICE], theta).result()
    evaluated = list(range(2, steps + 1, 2))[-averaged:] if averaged else []
    for seed in range(SEEDS):
        expected = sum(log_v(theta[step - 1, seed], rbm) for step in evaluated) / (averaged or math.nan)
        assert result["log_mmd"][seed].item() == pytest.approx(expected, abs=1e-10, nan_ok=True)
        now = log_v(theta[-1, seed], rbm)
        assert result["log_mmd_now"][seed].item() == pytest.approx(now, abs=1e-10)
    if not averaged:  # nothing else is known before the first evaluation
        known = ("log_mmd_floor", "mmd_u_sd0", "log_mmd_now")
        assert all(result.pop(name).isfinite().all() for name in known)
        assert all(value.isnan().all() for value in result.values())


@pytest.mark.parametrize(("steps", "evaluations"), [(10, 1), (100, 1), (300, 3), (1000, 10), (10_000, 100)])
def test_the_end_is_the_last_tenth(steps: int, evaluations: int) -> None:
    """At 10,000 steps the 100 evaluations of the papers; all in the last tenth, the whole of it."""
    metric = LogMMD(context(model(), 1, CHAINS))
    metric.evaluated = steps
    slots = metric._slots()
    assert len(set(slots)) == len(slots) == evaluations
    assert slots[-1] == steps // 10 % 100


def test_draws_of_one_chain_are_not_taken_for_independent() -> None:
    """Each reference draw three times: U has no bias if the target says which rows are of one chain.

    300 repeats; 5 standard errors of the mean, false alarm 6e-7.
    """
    theta = bits(MEAN, 300, CHAINS, seed=5)
    references = bits(MEAN, 300, 10, seed=100).repeat(1, 3, 1)
    for chains, biased in ((None, True), (10, False)):
        samples = [ReferenceSample(reference, 20, chains) for reference in references]
        found = torch.stack([one.log_mmd_and_u(x)[1] for one, x in zip(samples, theta, strict=True)])
        assert (abs(found.mean().item()) > 5 * found.std().item() / 300**0.5) == biased
    rbm = model()
    rbm.reference, rbm.reference_chains = references[0], 10
    result = measure(context(rbm, 1, CHAINS), [OURS], theta[:1].expand(4, 1, CHAINS, D)).result()
    assert result["mmd_u"].item() == pytest.approx(found[0].item(), abs=1e-14)
    rbm.reference_chains = 7
    with pytest.raises(ValueError, match=r"divide the number of reference draws \(30\), 7 was given"):
        measure(context(rbm, SEEDS, CHAINS), [OURS], draws(4))


def test_a_single_chain_has_a_v_statistic_only() -> None:
    result = measure(context(model(), SEEDS, 1), [OURS], draws()[:, :, :1]).result()
    assert result["log_mmd"].isfinite().all()
    assert result["mmd_u"].isnan().all()
    assert result["samples_apart"].isnan().all()


def test_the_slice_is_one_chain_every_five_steps_behind_the_first_tenth() -> None:
    rbm, theta = model(), draws(103)
    run = context(rbm, SEEDS, CHAINS)
    result = measure(run, [partial(LogMMDSlice, references=20)], theta).result()["log_mmd_slice"]
    kept = run.statistic(TimeSlice, every=5, draws=2000)
    assert kept.steps == list(range(5, 104, 5))
    for seed in range(SEEDS):
        chains = kept.chain[seed, 1:21]
        rows = theta[4::5, seed].gather(1, chains.reshape(-1, 1, 1).expand(-1, 1, D)).squeeze(1)
        assert torch.equal(kept.rows[:, seed].double(), rows)
        assert len(set(chains.tolist())) > 2
        assert result[seed].item() == pytest.approx(log_v(rows[2:], rbm), abs=1e-10)


def test_the_slice_is_bounded_and_chains_are_chosen_evenly() -> None:
    run = context(model(), 1, CHAINS)
    series = run.statistic(TimeSlice, every=5, draws=8)
    theta = draws(1)[0, :1]
    for step in range(5, 10 * CHOICES, 5):
        series.update(step, theta, silent(1, CHAINS))
    assert len(series.rows) <= 8
    longer = run.statistic(TimeSlice, every=5, draws=2000)
    for step in range(5, 10_001, 5):
        longer.update(step, theta, silent(1, CHAINS))
    # As many as in the released code.
    assert len([step for step in longer.steps if step > 1000]) == 1800
    picked = series.chain.flatten().bincount(minlength=CHAINS)
    # Chi-square with 5 degrees of freedom exceeds 35.9 with probability 1e-6.
    assert ((picked - CHOICES / CHAINS) ** 2 / (CHOICES / CHAINS)).sum().item() < 35.9


def test_the_reference_sample_may_be_set_after_the_metric_is_built() -> None:
    rbm, theta = RBM(D, 4).requires_grad_(False), draws()
    suite = measure(context(rbm, SEEDS, CHAINS), [OURS, SLICE], theta[:0])
    with pytest.raises(ValueError, match="log_mmd needs the target's reference draws, which are still empty"):
        suite.update(4, theta[3], silent(SEEDS, CHAINS))
    rbm.reference, rbm.held_out = model().reference, model().held_out
    suite.update(4, theta[3], silent(SEEDS, CHAINS))
    assert suite.result()["log_mmd"].isfinite().all()


def test_the_last_draws_are_kept_for_pictures() -> None:
    theta, run = draws(), context(model(), SEEDS, CHAINS)
    suite = measure(run, [OURS], theta[:0])
    last = run.statistic(LastDraws)
    assert last.theta is None
    assert last.state_dict() == {}
    for step in range(1, 8):
        suite.update(step, theta[step - 1], silent(SEEDS, CHAINS))
    assert last.theta is not None
    assert torch.equal(last.theta, theta[6])
    other = LastDraws(run)
    other.load_state_dict(last.state_dict())
    assert other.theta is not None
    assert torch.equal(other.theta, theta[6])
    last.merge(LastDraws(run))
    assert torch.equal(last.theta, theta[6])
