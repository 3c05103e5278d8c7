"""The norm of the mean: both readings by brute force, with levels, and the steps until it is small."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from metrics.metric import UnsupportedMetric
from metrics.mixing.mean_norm import MeanNorm
from metrics.suite import MetricSuite
from samplers.kernel import Info
from targets.synthetic.gaussian_mixture import GaussianMixture
from tests.support.measuring import context, silent
from tests.support.targets import corners

TARGET = GaussianMixture([[-1.0, 0.0], [1.0, 0.0]]).double()
STEPS, SEEDS, CHAINS = 12, 2, 4


def levels(low: int = 0) -> Tensor:
    """Levels ``(steps, seeds, chains)``; the last chain of the first seed is never cold."""
    drawn = torch.randint(low, 3, (STEPS, SEEDS, CHAINS), generator=torch.Generator().manual_seed(1))
    drawn[:, 0, -1] = 2
    drawn[0, :, 0] = 0
    return drawn


def draws() -> Tensor:
    return torch.randn(STEPS, SEEDS, CHAINS, 2, generator=torch.Generator().manual_seed(2)).double()


def fed(theta: Tensor, level: Tensor | None = None, first_step: int = 1, **options: float) -> MetricSuite:
    suite = MetricSuite(
        context(TARGET, theta.shape[1], theta.shape[2]), {"mean_norm": lambda c: MeanNorm(c, **options)}
    )
    return go_on(suite, theta, level, first_step)


def go_on(suite: MetricSuite, theta: Tensor, level: Tensor | None, first_step: int) -> MetricSuite:
    for place, states in enumerate(theta):
        info: Info = silent(*states.shape[:2])
        suite.update(first_step + place, states, info if level is None else replace(info, level=level[place]))
    return suite


def by_hand(theta: Tensor, level: Tensor) -> tuple[float, float]:
    """mean_norm and mean_norm_now of one seed, ``(steps, chains, d)``, chain by chain."""
    states, cold = theta.numpy(), level.numpy() == 0
    means = [states[cold[:, chain], chain].mean(0) for chain in range(CHAINS) if cold[:, chain].any()]
    present = [states[-1, chain] for chain in range(CHAINS) if cold[-1, chain]]
    now = np.linalg.norm(np.mean(present, 0)) if present else math.nan
    return float(np.linalg.norm(np.mean(means, 0))), float(now)


def test_all_states_of_a_plain_kernel_count() -> None:
    theta = draws()
    found = fed(theta).result()
    torch.testing.assert_close(found["mean_norm"], theta.mean((0, 2)).norm(dim=-1))
    torch.testing.assert_close(found["mean_norm_now"], theta[-1].mean(1).norm(dim=-1))
    scatter = (theta.mean(0).var(1).sum(-1) / CHAINS).sqrt()
    torch.testing.assert_close(found["mean_norm_noise"], scatter)
    torch.testing.assert_close(found["mean_norm_log2"], (1 / found["mean_norm"]).log().square())


def test_an_effective_draw_costs_the_variance_of_means_over_that_of_states() -> None:
    theta, level = draws(), levels()
    found = fed(theta, level).result()["steps_per_draw"]
    for seed in range(SEEDS):
        states, cold = theta[:, seed].numpy(), level[:, seed].numpy() == 0
        means = [states[cold[:, chain], chain].mean(0) for chain in range(CHAINS) if cold[:, chain].any()]
        ratio = np.var(means, 0, ddof=1).sum() / np.var(states[cold], 0).sum()
        assert float(found[seed]) == pytest.approx(STEPS * ratio)


def test_an_effective_draw_of_an_autoregression_costs_what_is_known() -> None:
    """x' = a x + sqrt(1 - a^2) z with a = 0.8 has (1 + a) / (1 - a) = 9 steps a draw; 4,000 chains of 400.

    The ratio of variances scatters by sqrt(2 / 8,000) = 0.016, and 1 / 400 of bias; 0.08 is five of these.
    """
    generator = torch.Generator().manual_seed(3)
    theta = torch.randn(1, 4_000, 2, generator=generator).double()
    suite = MetricSuite(context(TARGET, 1, 4_000), {"mean_norm": MeanNorm})
    for step in range(400):
        theta = 0.8 * theta + 0.6 * torch.randn(theta.shape, generator=generator)
        suite.update(step + 1, theta, silent(1, 4_000))
    known = 9.0 - 2 * 0.8 / 0.2**2 / 400
    assert abs(float(suite.result()["steps_per_draw"]) / known - 1) < 0.08


@pytest.mark.parametrize("length", [1, 5, STEPS])
def test_only_states_at_the_cold_level_count(length: int) -> None:
    theta, level = draws()[:length], levels()[:length]
    found = fed(theta, level).result()
    for seed in range(SEEDS):
        norm, now = by_hand(theta[:, seed], level[:, seed])
        assert float(found["mean_norm"][seed]) == pytest.approx(norm, rel=1e-12)
        assert float(found["mean_norm_now"][seed]) == pytest.approx(now, rel=1e-12, nan_ok=True)


def test_it_may_be_asked_of_chains_that_move_between_levels() -> None:
    run = context(TARGET, SEEDS, CHAINS)
    run.kernel.has_levels = True
    suite = MetricSuite(run, {"mean_norm": MeanNorm})
    found = go_on(suite, draws(), levels(), first_step=1).result()
    norms = [by_hand(draws()[:, seed], levels()[:, seed])[0] for seed in range(SEEDS)]
    assert found["mean_norm"].tolist() == pytest.approx(norms)


def test_before_any_cold_state_there_is_no_value() -> None:
    found = fed(draws(), levels().clamp(min=1)).result()
    assert all(bool(value.isnan().all()) for value in found.values())


def course(norms: list[list[float]]) -> Tensor:
    """Draws ``(steps, seeds, 1, 2)`` of one chain whose running mean has these norms at each step."""
    wanted = torch.tensor(norms, dtype=torch.float64)
    sums = wanted * torch.arange(1, len(norms) + 1).unsqueeze(-1)
    steps = sums.diff(dim=0, prepend=torch.zeros_like(sums[:1]))
    return torch.stack([0.6 * steps, 0.8 * steps], -1).unsqueeze(2)


def test_the_steps_to_the_threshold_are_those_of_the_first_fall_and_of_the_last() -> None:
    """The first seed falls, rises and falls again; the second stays; the third leaves; the fourth never."""
    norms = [
        [3.0, 2.0, 3.0, 3.0],
        [0.4, 0.4, 0.4, 3.0],
        [0.6, 0.3, 0.4, 3.0],
        [0.4, 0.3, 0.4, 3.0],
        [0.4, 0.2, 0.9, 3.0],
    ]
    found = fed(course(norms), threshold=0.5, every=1).result()
    assert found["steps_to_threshold_first"].nan_to_num(-1).tolist() == [2, 2, 2, -1]
    assert found["steps_to_threshold"].nan_to_num(-1).tolist() == [4, 2, -1, -1]
    # Of the states themselves: theta_t = t m_t - (t - 1) m_{t - 1}.
    present = course(norms).squeeze(2).norm(dim=-1)
    below, last = (present < 0.5).tolist(), []
    for seed in range(4):
        step = 5
        while step and below[step - 1][seed]:
            step -= 1
        last.append(step + 1 if step < 5 else -1)
    assert found["steps_to_threshold_now"].nan_to_num(-1).tolist() == last


def test_the_threshold_is_looked_at_every_so_many_steps() -> None:
    found = fed(course([[0.05]] * 35), first_step=1).result()
    assert found["steps_to_threshold"].tolist() == [10]
    assert fed(course([[0.05]] * 9)).result()["steps_to_threshold"].isnan().all()


def test_above_one_there_is_no_squared_log() -> None:
    assert fed(course([[2.0]])).result()["mean_norm_log2"].isnan().all()


def test_saving_and_loading_change_nothing() -> None:
    theta, level, options = draws(), levels(), {"threshold": 0.8, "every": 2}
    whole = fed(theta, level, **options)
    first = fed(theta[:7], level[:7], **options)
    buffer = io.BytesIO()
    torch.save(first.state_dict(), buffer)
    buffer.seek(0)
    second = fed(theta[:0], **options)
    second.load_state_dict(torch.load(buffer, weights_only=True))
    go_on(second, theta[7:], level[7:], first_step=8)
    for name, value in whole.result().items():
        assert torch.equal(value.nan_to_num(-1), second.result()[name].nan_to_num(-1))
    assert not whole.result()["steps_to_threshold_first"].isnan().all()


def test_a_seed_has_the_same_bits_alone() -> None:
    theta, level = draws(), levels()
    together, alone = fed(theta, level).result(), fed(theta[:, 1:], level[:, 1:]).result()
    for name, value in together.items():
        assert torch.equal(value[1:].nan_to_num(-1), alone[name].nan_to_num(-1))


def test_another_shape_is_not_loaded_and_parts_are_not_merged() -> None:
    with pytest.raises(ValueError, match="must have the shape"):
        fed(draws()[:, :, :3]).load_state_dict(fed(draws()).state_dict())
    with pytest.raises(ValueError, match="cannot be merged"):
        fed(draws()).merge(fed(draws()))


def test_bad_settings_and_targets_are_refused() -> None:
    with pytest.raises(UnsupportedMetric, match="needs a target on the reals"):
        MeanNorm(context(corners()))
    with pytest.raises(ValueError, match=r"metric\.mean_norm\.threshold must be a positive number"):
        MeanNorm(context(TARGET), threshold=0.0)
    with pytest.raises(ValueError, match=r"metric\.mean_norm\.every must be a whole number"):
        MeanNorm(context(TARGET), every=0)
