"""The pooled eigenvalues against NumPy on every single one of them, and the anchors of EDLP's Figure 11."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from metrics.landscape.hessian_spectrum import HessianSpectrum, percentile, weighted_std
from targets.synthetic.bernoulli4 import Bernoulli4
from tests.support.measuring import context, measure, random_draws


def test_std_and_iqr_are_those_of_all_eigenvalues_of_all_draws() -> None:
    target = Bernoulli4()
    draws = random_draws(target, steps=7, seeds=3, chains=5)
    result = measure(context(target, 3, 5), [HessianSpectrum], draws).result()
    hessians = dict(zip(map(tuple, target.space.states().tolist()), target.hessians(), strict=True))
    for seed in range(3):
        pooled = [
            value
            for theta in draws[:, seed].reshape(-1, 4).tolist()
            for value in np.linalg.eigvalsh(hessians[tuple(theta)].numpy())
        ]
        assert len(pooled) == 4 * 7 * 5
        upper, lower = np.percentile(pooled, [75, 25])
        assert result["hessian_std"][seed].item() == pytest.approx(np.std(pooled), abs=1e-12)
        assert result["hessian_iqr"][seed].item() == pytest.approx(upper - lower, abs=1e-12)


def test_the_target_has_the_values_of_the_audit() -> None:
    """settings E.1: 2.646, and 3.224 as the paper prints for DMALA."""
    target = Bernoulli4()
    result = measure(context(target), [HessianSpectrum], random_draws(target, 1, 1, 1)).result()
    assert result["hessian_std_exact"].item() == pytest.approx(2.646, abs=5e-4)
    assert result["hessian_iqr_exact"].item() == pytest.approx(3.224, abs=5e-4)


@pytest.mark.parametrize("level", [0.0, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("counts", [[1, 2, 3], [0, 0, 7], [5, 0, 0], [1, 0, 1], [0, 1, 0]])
def test_percentile_is_numpys(counts: list[int], level: float) -> None:
    values = torch.tensor([-2.0, 0.5, 3.0], dtype=torch.float64)
    repeated = np.repeat(values.numpy(), counts)
    found = percentile(values, torch.tensor(counts), level).item()
    assert found == pytest.approx(np.quantile(repeated, level), abs=1e-15)


def test_weights_of_any_sum_give_the_same_deviation() -> None:
    values = torch.tensor([-1.0, 4.0, 2.0], dtype=torch.float64)
    weights = torch.tensor([3.0, 1.0, 4.0], dtype=torch.float64)
    assert weighted_std(values, weights).item() == pytest.approx(np.std([-1, -1, -1, 4, 2, 2, 2, 2]))
    assert weighted_std(values, 0.1 * weights).item() == pytest.approx(weighted_std(values, weights).item())
