"""Mass on named states and the mean gap of the frequencies, by counting draws."""

from __future__ import annotations

import math

import pytest
import torch

from metrics.discrepancy.tv import LogMeanGap
from metrics.landscape.flat_mass import FlatMass
from targets.synthetic.bernoulli4 import Bernoulli4
from tests.support.measuring import context, counted, measure, random_draws
from tests.support.targets import corners

FLAT, SHARP = ([0, 1, 0, 0], [1, 0, 0, 1]), ([0, 0, 1, 0], [0, 1, 1, 1])


def test_the_masses_are_shares_of_the_draws() -> None:
    target = Bernoulli4()
    draws = random_draws(target, steps=20, seeds=3, chains=5)
    result = measure(context(target, 3, 5), [FlatMass], draws).result()
    for seed in range(3):
        seen = draws[:, seed].reshape(-1, 4).tolist()
        for key, states in (("flat_mass", FLAT), ("sharp_mass", SHARP)):
            assert result[key][seed].item() == pytest.approx(
                sum(seen.count(s) for s in states) / 100, abs=1e-15
            )


def test_the_target_holds_what_the_paper_prints() -> None:
    target = Bernoulli4()
    result = measure(context(target), [FlatMass], random_draws(target, 1, 1, 1)).result()
    assert result["flat_mass_exact"].item() == pytest.approx(0.08688 + 0.05825, abs=1e-5)
    assert result["sharp_mass_exact"].item() == pytest.approx(0.12500 + 0.16756, abs=1e-5)


def test_the_gap_is_the_logarithm_of_the_mean_error() -> None:
    target = Bernoulli4()
    draws = random_draws(target, steps=5, seeds=2, chains=6)
    values = measure(context(target, 2, 6), [LogMeanGap], draws).result()["log_mean_gap"]
    for seed in range(2):
        seen = draws[:, seed].reshape(-1, 4).tolist()
        pairs = zip(target.space.states().tolist(), target.probabilities().tolist(), strict=True)
        gaps = [abs(seen.count(state) / 30 - p) for state, p in pairs]
        assert values[seed].item() == pytest.approx(math.log(sum(gaps) / 16), abs=1e-12)


def test_no_error_is_minus_infinity() -> None:
    target = corners()
    target.table.zero_()
    counts = torch.ones(1, 25, dtype=torch.int64)
    gap = counted(context(target, 1, 25), [LogMeanGap], counts).result()["log_mean_gap"]
    assert gap.item() == -math.inf
