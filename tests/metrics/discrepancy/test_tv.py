"""Total variation against a loop, and its two extremes."""

from __future__ import annotations

import pytest
import torch

from metrics.discrepancy.tv import TV
from targets.spaces import Ordinal
from targets.synthetic.bernoulli4 import Bernoulli4
from tests.support.measuring import context, counted, measure, random_draws
from tests.support.targets import Table, corners


@pytest.mark.parametrize("target", [corners(), Bernoulli4()], ids=["ordinal", "binary"])
def test_tv_equals_the_loop_over_states(target) -> None:
    draws = random_draws(target, steps=5, seeds=2, chains=6)
    values = measure(context(target, 2, 6), [TV], draws).result()["tv"]
    states = target.space.states().tolist()
    for seed in range(2):
        seen = draws[:, seed].reshape(-1, target.space.d).double().tolist()
        frequencies = [seen.count(state) / len(seen) for state in states]
        gaps = zip(frequencies, target.probabilities().tolist(), strict=True)
        assert values[seed].item() == pytest.approx(sum(abs(f - p) for f, p in gaps) / 2, abs=1e-12)


def test_tv_is_zero_on_the_target_and_one_off_its_support() -> None:
    log_prob = torch.tensor([0.0, 0.0, -torch.inf, -torch.inf], dtype=torch.float64)
    target = Table(Ordinal(2, 2), log_prob, torch.zeros(1, 2))
    counts = torch.tensor([[5, 5, 0, 0], [0, 0, 3, 7]])
    assert counted(context(target, 2, 10), [TV], counts).result()["tv"].tolist() == [0.0, 1.0]


def test_counts_stay_exact_beyond_single_precision() -> None:
    target = Table(Ordinal(1, 2), torch.zeros(2, dtype=torch.float64), torch.zeros(1, 1))
    many = 2**24 + 2
    suite = counted(context(target, 1, many), [TV], torch.tensor([[2**24, 2]]))
    visits = next(iter(suite.context.statistics.values()))
    for _ in range(3):
        visits.counts.view(-1).scatter_add_(0, torch.tensor([0]), torch.tensor([1]))
    assert visits.counts.tolist() == [[2**24 + 3, 2]]
    assert visits.counts.dtype == torch.int64
