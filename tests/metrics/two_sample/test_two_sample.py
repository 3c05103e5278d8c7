"""Kernel two-sample statistics against double loops, closed forms on independent bits, and simulation."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from metrics.two_sample.hamming_kernel import HammingKernel, PackedDraws
from metrics.two_sample.mmd_statistics import (
    centred_second_moment,
    detection_constant,
    null_sd,
    permutation_p_value,
    required_sample_size,
    u_statistic,
    v_statistic,
)
from metrics.two_sample.reference_sample import ReferenceSample
from tests.support.two_sample import bits, double_loops

D = 20
P = torch.linspace(0.1, 0.6, D, dtype=torch.float64)


def mean_kernel(p: Tensor, q: Tensor, power: int = 1) -> float:
    """E k(x, y)^power for independent x and y with independent bits: one factor a coordinate."""
    differ = p * (1 - q) + q * (1 - p)
    return float((1 - (1 - math.exp(-power / len(p))) * differ).prod())


def second_moment(p: Tensor) -> float:
    """E k~^2 = E k^2 - 2 E (E_y k)^2 + (E k)^2, in closed form."""
    c = 1 - math.exp(-1 / len(p))
    given = (p * (1 - c * (1 - p)) ** 2 + (1 - p) * (1 - c * p) ** 2).prod()
    return mean_kernel(p, p, 2) - 2 * float(given) + mean_kernel(p, p) ** 2


def statistics(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """V and U of each of many pairs of samples ``(repeats, m, d)``, ``(repeats, n, d)``."""
    kernel = HammingKernel(x.shape[-1])
    totals = [
        torch.cat([kernel.total(a, b) for a, b in zip(left.split(50), right.split(50), strict=True)])
        for left, right in ((x, x), (y, y), (x, y))
    ]
    m, n = x.shape[-2], y.shape[-2]
    return v_statistic(*totals, m, n), u_statistic(*totals, m, n)


@pytest.mark.parametrize(("m", "n"), [(2, 2), (7, 30), (30, 7)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.uint8])
def test_both_statistics_equal_double_loops(m: int, n: int, dtype: torch.dtype) -> None:
    x, y = bits(P, 3, m).to(dtype), bits(P.flip(0), 3, n, seed=1).to(dtype)
    v, u = statistics(x, y)
    for place in range(3):
        expected = double_loops(x[place], y[place])
        assert v[place].item() == pytest.approx(expected[0], abs=1e-12)
        assert u[place].item() == pytest.approx(expected[1], abs=1e-12)


def test_a_total_does_not_depend_on_blocks_batch_or_order(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = bits(P, 3, 40), bits(P, 50, seed=1)
    kernel = HammingKernel(D)
    whole = kernel.total(x, y)
    shared = kernel.total(x, y.expand(3, 50, D))
    alone = torch.stack([kernel.total(part, y) for part in x])
    shuffled = kernel.total(x[:, torch.randperm(40)], y.flip(0))
    monkeypatch.setattr("metrics.two_sample.hamming_kernel.ROWS", 7)
    monkeypatch.setattr("metrics.two_sample.hamming_kernel.COLUMNS", 11)
    for other in (shared, alone, shuffled, kernel.total(x, y)):
        assert torch.equal(other, whole)
    torch.testing.assert_close(
        torch.stack([kernel.matrix(part, y).sum() for part in x]), whole, rtol=1e-13, atol=0
    )


def test_distances_of_whole_images_are_exact_in_float32() -> None:
    x, y = bits(torch.full((784,), 0.5), 20), bits(torch.full((784,), 0.5), 30, seed=1)
    expected = (x.unsqueeze(1) != y).sum(-1).double()
    exact = torch.exp(-expected / 784).sum()
    torch.testing.assert_close(HammingKernel(784).total(x, y), exact, rtol=1e-14, atol=0)


@pytest.mark.parametrize(("d", "n"), [(1, 2), (3, 1), (63, 6), (64, 7), (784, 31), (4095, 5), (4096, 5)])
def test_packed_draws_differ_in_as_many_coordinates(d: int, n: int) -> None:
    """All zeros and all ones are among them: the largest counts there are."""
    half = torch.full((d,), 0.5)
    x, y = bits(half, 2, 4), bits(half, n, seed=1)
    x[0, 0], x[0, 1], y[0], y[-1] = 0.0, 1.0, 1.0, 1.0
    packed = PackedDraws(y)
    expected = (x.unsqueeze(-2) != y).sum(-1)
    assert torch.equal(packed.hamming(x).long(), expected)
    assert len(packed.rows) == (n if d > 4095 else (n + 1) // 2)
    assert torch.equal(HammingKernel(d).total(x, packed), HammingKernel(d).total(x, y))


def test_u_has_no_bias_and_v_the_bias_that_the_floor_formula_says() -> None:
    """4,000 repeats: 5 standard errors on each mean, false alarm 6e-7 each."""
    q = P + 0.1
    for other, seed in ((P, 1), (q, 2)):
        v, u = statistics(bits(P, 4000, 10), bits(other, 4000, 15, seed=seed))
        mmd = mean_kernel(P, P) + mean_kernel(other, other) - 2 * mean_kernel(P, other)
        assert abs(u.mean().item() - mmd) <= 5 * u.std().item() / 4000**0.5
        bias = (1 - mean_kernel(P, P)) / 10 + (1 - mean_kernel(other, other)) / 15
        assert abs(v.mean().item() - mmd - bias) <= 5 * v.std().item() / 4000**0.5


def test_the_floor_is_that_of_independent_draws() -> None:
    """2,000 groups of 10 against 500: 5 standard errors and the reference's own 2 %."""
    sample = ReferenceSample(bits(P, 500), 500)
    floor = torch.cat([sample.floor(bits(P, 200 * 10, seed=seed), 10) for seed in range(1, 11)])
    assert floor.shape == (2000,)
    expected = (1 - mean_kernel(P, P)) * (1 / 10 + 1 / 500)
    assert floor.exp().mean().item() == pytest.approx(expected, rel=0.04)
    with pytest.raises(ValueError, match="held_out must hold at least 11 draws, 10 were given"):
        sample.floor(bits(P, 10), 11)


def test_pairs_of_one_chain_are_not_counted() -> None:
    """Rows 0, 4, 8 are of chain 0 and so on: a double loop over pairs of different chains."""
    y = bits(P, 12)
    kernel = HammingKernel(D).matrix(y, y)
    pairs = [kernel[i, j].item() for i in range(12) for j in range(12) if i % 4 != j % 4]
    sample = ReferenceSample(y, 12, chains=4)
    assert sample.kbar.item() == pytest.approx(sum(pairs) / len(pairs), abs=1e-14)
    assert sample.second_moment.item() == centred_second_moment(kernel[:4, :4]).item()
    for chains in (1, 5):
        with pytest.raises(
            ValueError, match=f"reference_chains must be at least 2 and .*, {chains} was given"
        ):
            ReferenceSample(y, 12, chains)


@pytest.mark.parametrize(("m", "n"), [(12, 12), (8, 20)])
def test_null_sd_is_that_of_simulated_statistics(m: int, n: int) -> None:
    """4,000 repeats: the standard deviation has a relative error near 1.5 %; 8 % is 5 of them."""
    _, u = statistics(bits(P, 4000, m), bits(P, 4000, n, seed=1))
    expected = null_sd(torch.tensor(second_moment(P)), m, n).item()
    assert u.std().item() == pytest.approx(expected, rel=0.08)


def test_the_second_moment_has_no_bias() -> None:
    """Mean over 400 gram matrices of 12 draws within 5 standard errors of the closed form."""
    kernel = HammingKernel(D)
    found = torch.stack([centred_second_moment(kernel.matrix(x, x)) for x in bits(P, 400, 12)])
    assert abs(found.mean().item() - second_moment(P)) <= 5 * found.std().item() / 20
    assert math.isnan(centred_second_moment(torch.ones(3, 3)).item())


@pytest.mark.parametrize("shift", ["all", "one"])
def test_that_many_samples_have_a_power_of_about_80_percent(shift: str) -> None:
    """500 repeats under each distribution; the standard error of the power is 2 %, the band 70 % to 92 %."""
    p, kernel = torch.full((D,), 0.3, dtype=torch.float64), HammingKernel(D)
    q = p + (0.08 if shift == "all" else 0.35 * torch.eye(D, dtype=torch.float64)[0])
    mmd = mean_kernel(p, p) + mean_kernel(q, q) - 2 * mean_kernel(p, q)
    reference = bits(p, 800, seed=9)
    gram = kernel.matrix(reference, reference)
    n = int(required_sample_size(torch.tensor(mmd, dtype=torch.float64), detection_constant(gram)))
    assert 20 < n < 200
    _, null = statistics(bits(p, 500, n), bits(p, 500, n, seed=1))
    _, found = statistics(bits(p, 500, n, seed=2), bits(q, 500, n, seed=3))
    power = (found > null.quantile(0.95)).double().mean().item()
    assert 0.70 <= power <= 0.92
    few = n // 3
    _, null = statistics(bits(p, 500, few), bits(p, 500, few, seed=1))
    _, found = statistics(bits(p, 500, few, seed=2), bits(q, 500, few, seed=3))
    assert (found > null.quantile(0.95)).double().mean().item() < 0.5


def test_no_number_of_samples_detects_no_difference() -> None:
    found = required_sample_size(torch.tensor([-0.1, 0.0, math.nan, 1e-3, 1e9], dtype=torch.float64), 0.5)
    assert found.isnan().tolist() == [True, True, True, False, False]
    assert found[3:].tolist() == [500.0, 2.0]
    one = torch.ones(2)
    assert u_statistic(one, one, one, 1, 5).isnan().all()
    assert null_sd(one, 1, 5).isnan().all()
    assert math.isnan(detection_constant(torch.ones(3, 3)))


def test_permutations_are_calibrated_and_find_a_shift() -> None:
    """600 tests at 5 % with 19 relabellings: within 5.1 standard deviations, false alarm 4e-7."""
    kernel, generator = HammingKernel(D), torch.Generator().manual_seed(0)

    def rejected(q: Tensor, tests: int) -> float:
        pooled = torch.cat([bits(P, tests, 12, seed=3), bits(q, tests, 8, seed=4)], dim=1)
        values = [permutation_p_value(kernel.matrix(x, x), 12, 19, generator) for x in pooled]
        return sum(value <= 0.05 + 1e-9 for value in values) / tests

    assert abs(rejected(P, 600) - 0.05) <= 5.1 * (0.05 * 0.95 / 600) ** 0.5
    assert rejected(1 - P, 60) > 0.9
