"""log-MMD against a ground truth: double loops, window, floor, first hit, saving, merging, and no sync."""

from __future__ import annotations

import io
import math
from functools import partial

import pytest
import torch
from torch import Tensor

from metrics.discrepancy.log_mmd import LogMMD
from metrics.discrepancy.log_mmd_slice import CHOICES, LogMMDSlice, TimeSlice
from metrics.metric import UnsupportedMetric
from metrics.statistics.last_draws import LastDraws
from metrics.two_sample.hamming_kernel import HammingKernel
from metrics.two_sample.mmd_statistics import (
    centred_second_moment,
    detection_constant,
    null_sd,
    required_sample_size,
)
from targets.models.rbm import RBM
from targets.spaces import Categorical
from tests.metrics.two_sample.test_two_sample import bits, double_loops
from tests.support.measuring import context, measure, silent
from tests.support.no_host_sync import NoHostSync
from tests.support.small_targets import random_target
from tests.support.targets import Bare

D, SEEDS, CHAINS, STEPS = 9, 3, 6, 43
LAW = torch.linspace(0.2, 0.7, D, dtype=torch.float64)
OURS = partial(LogMMD, every=4, window=5, references=20, share=0.3)
SLICE = partial(LogMMDSlice, draws=8, references=20)


def machine(dtype: torch.dtype = torch.float64) -> RBM:
    """A machine whose ground truth is 31 and 27 draws of independent bits."""
    rbm = RBM(D, 4).to(dtype).requires_grad_(False)
    rbm.reference, rbm.held_out = bits(LAW, 31, seed=1).to(dtype), bits(LAW, 27, seed=2).to(dtype)
    return rbm


def draws(steps: int = STEPS) -> Tensor:
    """Chains of the law of the ground truth, ``(steps, SEEDS, CHAINS, D)``."""
    return bits(LAW, steps, SEEDS, CHAINS, seed=3)


def log_v(x: Tensor, rbm: RBM) -> float:
    return math.log(double_loops(x, rbm.reference[:20])[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_equal_double_loops(dtype: torch.dtype) -> None:
    rbm, theta = machine(dtype), draws().to(dtype)
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
    assert result["hit_step"].isfinite().any(), "the chains are of the truth: some reach its floor"


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


def test_chains_elsewhere_never_hit_the_floor() -> None:
    theta = torch.ones(8, SEEDS, CHAINS, D, dtype=torch.float64)
    result = measure(context(machine(), SEEDS, CHAINS), [OURS], theta).result()
    assert result["hit_step"].isnan().all()
    assert (result["log_mmd"] > result["log_mmd_floor"] + 0.3).all()
    assert (result["samples_apart"] >= 2).all()


def test_chains_that_are_the_reference_are_at_no_distance() -> None:
    rbm = machine()
    theta = rbm.reference[:20].expand(4, 1, 20, D)
    result = measure(context(rbm, 1, 20), [OURS], theta).result()
    assert result["log_mmd"].item() < -30
    assert result["hit_step"].item() == 4


def test_before_the_first_evaluation_nothing_is_known_but_the_floor_and_where_the_chains_stand() -> None:
    result = measure(context(machine(), SEEDS, CHAINS), [OURS, SLICE], draws(3)).result()
    assert all(result.pop(name).isfinite().all() for name in ("log_mmd_floor", "mmd_u_sd0", "log_mmd_now"))
    assert all(value.isnan().all() for value in result.values())


def test_the_value_now_is_of_the_step_it_is_asked_for() -> None:
    rbm, theta = machine(), draws()
    suite = measure(context(rbm, SEEDS, CHAINS), [OURS], theta[:0])
    for step in range(1, 12):
        suite.update(step, theta[step - 1], silent(SEEDS, CHAINS))
        now = suite.result()["log_mmd_now"]
        expected = [log_v(theta[step - 1, seed], rbm) for seed in range(SEEDS)]
        torch.testing.assert_close(now, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("steps", "averaged"), [(9, 1), (13, 1), (25, 2), (40, 3), (60, 5), (80, 5)])
def test_the_end_is_a_share_of_the_steps_and_at_most_the_window(steps: int, averaged: int) -> None:
    rbm, theta = machine(), draws(80)
    options = partial(LogMMD, every=2, window=5, references=20, share=0.15)
    result = measure(context(rbm, SEEDS, CHAINS), [options], theta[:steps]).result()["log_mmd"]
    evaluated = list(range(2, steps + 1, 2))[-averaged:]
    for seed in range(SEEDS):
        expected = sum(log_v(theta[step - 1, seed], rbm) for step in evaluated) / averaged
        assert result[seed].item() == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("steps", "evaluations"), [(10, 1), (100, 1), (300, 3), (1000, 10), (10_000, 100)])
def test_the_end_is_the_last_tenth(steps: int, evaluations: int) -> None:
    """At 10,000 steps the 100 evaluations of the papers; all in the last tenth, the whole of it."""
    metric = LogMMD(context(machine(), 1, CHAINS))
    metric.evaluated = steps
    slots = metric._slots()
    assert len(set(slots)) == len(slots) == evaluations
    assert slots[-1] == steps // 10 % 100


def test_snapshots_of_one_chain_are_not_taken_for_independent() -> None:
    """Each draw of the truth repeated: U of its own law has no bias once the target says what the rows are.

    400 repeats; 5 standard errors of the mean, false alarm 6e-7.
    """
    theta = bits(LAW, 400, CHAINS, seed=5).unsqueeze(1)
    found = {}
    for chains in (None, 10):
        values = []
        for place in range(400):
            rbm = machine()
            rbm.reference = bits(LAW, 10, seed=100 + place).repeat(3, 1)
            if chains is not None:
                rbm.reference_chains = chains
            suite = measure(context(rbm, 1, CHAINS), [OURS], theta[:0])
            suite.update(4, theta[place], silent(1, CHAINS))
            values.append(suite.result()["mmd_u"])
        found[chains] = torch.cat(values)
    error = {chains: value.std().item() / 20 for chains, value in found.items()}
    assert abs(found[10].mean().item()) < 5 * error[10]
    assert found[None].mean().item() > 5 * error[None]


def test_a_reference_of_other_chains_is_refused() -> None:
    rbm = machine()
    rbm.reference_chains = 10
    with pytest.raises(ValueError, match=r"divide the number of reference draws \(31\), 10 was given"):
        measure(context(rbm, SEEDS, CHAINS), [OURS], draws(4))


def test_a_single_chain_has_a_v_statistic_only() -> None:
    result = measure(context(machine(), SEEDS, 1), [OURS], draws()[:, :, :1]).result()
    assert result["log_mmd"].isfinite().all()
    assert result["mmd_u"].isnan().all()
    assert result["samples_apart"].isnan().all()


def test_the_slice_is_one_chain_every_five_steps_behind_the_first_tenth() -> None:
    rbm, theta = machine(), draws(103)
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


def test_the_slice_is_bounded_and_chains_are_picked_evenly() -> None:
    run = context(machine(), 1, CHAINS)
    series = run.statistic(TimeSlice, every=5, draws=8)
    theta = draws(1)[0, :1]
    for step in range(1, 10 * CHOICES):
        series.update(step, theta, silent(1, CHAINS))
    assert len(series.rows) <= 8
    picked = series.chain.flatten().bincount(minlength=CHAINS)
    # Chi-square with 5 degrees of freedom exceeds 35.9 with probability 1e-6.
    assert ((picked - CHOICES / CHAINS) ** 2 / (CHOICES / CHAINS)).sum().item() < 35.9


def test_a_run_of_10000_steps_has_the_1800_draws_of_the_released_code() -> None:
    series = context(machine(), 1, 1).statistic(TimeSlice, every=5, draws=2000)
    theta = torch.zeros(1, 1, D)
    for step in range(5, 10_001, 5):
        series.update(step, theta, silent(1, 1))
    assert len([step for step in series.steps if step > 1000]) == 1800


def test_merge_equals_one_pass() -> None:
    theta = draws()
    whole = measure(context(machine(), SEEDS, CHAINS), [OURS, SLICE], theta).result()
    for cut in (1, 3, 4, 13, 40, 41):
        parts = [
            measure(context(machine(), SEEDS, CHAINS), [OURS, SLICE], theta[start:end], first_step=start + 1)
            for start, end in ((0, cut), (cut, STEPS))
        ]
        parts[0].merge(parts[1])
        for name, value in parts[0].result().items():
            torch.testing.assert_close(value, whole[name], rtol=1e-12, atol=0, equal_nan=True, msg=name)


@pytest.mark.parametrize("cut", [2, 4, 17, 42])
def test_a_saved_run_continues_with_the_same_bits(cut: int) -> None:
    theta = draws()
    whole = measure(context(machine(), SEEDS, CHAINS), [OURS, SLICE], theta).result()
    first = measure(context(machine(), SEEDS, CHAINS), [OURS, SLICE], theta[:cut])
    stream, state = io.BytesIO(), first.state_dict()
    for step in range(cut + 1, 40):  # what was taken down stays as it was
        first.update(step, theta[0], silent(SEEDS, CHAINS))
    torch.save(state, stream)
    stream.seek(0)
    second = measure(context(machine(), SEEDS, CHAINS), [OURS, SLICE], theta[:0])
    second.load_state_dict(torch.load(stream, weights_only=True))
    for step in range(cut + 1, STEPS + 1):
        second.update(step, theta[step - 1], silent(SEEDS, CHAINS))
    for name, value in second.result().items():
        assert torch.equal(value.nan_to_num(), whole[name].nan_to_num()), name


def test_a_state_of_another_window_or_number_of_seeds_is_refused() -> None:
    theta = draws()
    saved = measure(context(machine(), SEEDS, CHAINS), [OURS, SLICE], theta).state_dict()
    other = measure(context(machine(), SEEDS, CHAINS), [partial(OURS, window=6), SLICE], theta[:0])
    with pytest.raises(ValueError, match=r"ring must have the shape \(3, 2, 6\), \(3, 2, 5\) was saved"):
        other.load_state_dict(saved)
    fewer = TimeSlice(context(machine(), 2, CHAINS), every=5, draws=8)
    whole = TimeSlice(context(machine(), SEEDS, CHAINS), every=5, draws=8)
    whole.update(5, theta[0], silent(SEEDS, CHAINS))
    with pytest.raises(ValueError, match=r"at most 8 rows of the shape \(2, 9\), \(1, 3, 9\) was saved"):
        fewer.load_state_dict(whole.state_dict())


def test_a_seed_has_the_same_bits_alone_and_in_company() -> None:
    theta, values = draws(), (3, 4, 9)
    together = measure(context(machine(), 3, CHAINS, seed_values=values), [OURS, SLICE], theta).result()
    for place, value in enumerate(values):
        run = context(machine(), 1, CHAINS, seed_values=(value,))
        alone = measure(run, [OURS, SLICE], theta[:, place : place + 1]).result()
        for name in together:
            assert torch.equal(alone[name].nan_to_num(), together[name][place : place + 1].nan_to_num()), name


def test_an_update_does_not_synchronise_with_the_host() -> None:
    theta = draws()
    suite = measure(context(machine(), SEEDS, CHAINS), [OURS, SLICE], theta[:0])
    with NoHostSync():
        for step in range(1, STEPS + 1):
            suite.update(step, theta[step - 1], silent(SEEDS, CHAINS))


def test_the_ground_truth_may_come_after_the_metric_and_not_at_all() -> None:
    rbm, theta = RBM(D, 4).requires_grad_(False), draws()
    suite = measure(context(rbm, SEEDS, CHAINS), [OURS, SLICE], theta[:0])
    with pytest.raises(ValueError, match="log_mmd needs the target's reference draws, which are still empty"):
        suite.update(4, theta[3], silent(SEEDS, CHAINS))
    rbm.reference, rbm.held_out = machine().reference, machine().held_out
    suite.update(4, theta[3], silent(SEEDS, CHAINS))
    assert suite.result()["log_mmd"].isfinite().all()


@pytest.mark.parametrize("metric", [LogMMD, LogMMDSlice])
def test_needs_are_named(metric: type[LogMMD | LogMMDSlice]) -> None:
    for target in (Bare(), random_target(Categorical(2, 3))):
        message = (
            f"{metric.name} needs a binary target with reference draws; {type(target).__name__} has none"
        )
        with pytest.raises(UnsupportedMetric, match=message):
            metric(context(target))


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (LogMMD, {"every": 0}, "metric.log_mmd.every must be a whole number of at least 1, 0 was given"),
        (LogMMD, {"window": 1.5}, "metric.log_mmd.window must be a whole number of at least 1, 1.5 was"),
        (LogMMD, {"references": 1}, "metric.log_mmd.references must be a whole number of at least 2, 1 was"),
        (LogMMD, {"share": 1.5}, "metric.log_mmd.share must be a number from 0 to 1, 1.5 was"),
        (LogMMDSlice, {"draws": 1}, "metric.log_mmd_slice.draws must be a whole number of at least 2"),
        (LogMMDSlice, {"skip": 1.0}, "metric.log_mmd_slice.skip must be a number from 0 to 0.9, 1.0 was"),
    ],
)
def test_bad_options_are_refused(metric, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metric(context(machine()), **options)


def test_the_last_draws_are_kept_for_pictures() -> None:
    theta, run = draws(), context(machine(), SEEDS, CHAINS)
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
