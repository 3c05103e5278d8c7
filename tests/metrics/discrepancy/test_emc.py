"""Entropic mode coverage by its definition, and the printed formula with the audit's reference values."""

from __future__ import annotations

import math

import pytest
import torch

from metrics.discrepancy.emc import EMC, EMCPerSample
from metrics.statistics.mode_occupancy import SummedOccupancy, TabulatedOccupancy
from targets import MixtureOfGaussians, MixtureOfStudentT
from tests.support.measuring import context, counted, measure, random_draws
from tests.support.targets.modes import Unlisted, corners

BOTH = [EMC, EMCPerSample]


def entropy(weights: list[float]) -> float:
    return -sum(w * math.log(w) for w in weights if w > 0)


@pytest.mark.parametrize("listed", [True, False])
def test_both_equal_their_definitions_draw_by_draw(listed: bool) -> None:
    table = corners(width=1.5)
    target = table if listed else Unlisted(table)
    run = context(target, 2, 3)
    draws = random_draws(table, steps=6, seeds=2, chains=3)
    result = measure(run, BOTH, draws).result()
    kind = TabulatedOccupancy if listed else SummedOccupancy
    assert any(isinstance(statistic, kind) for statistic in run.statistics.values())
    for seed in range(2):
        mean, entropies = [0.0] * 4, 0.0
        for theta in draws[:, seed].reshape(-1, 2):
            weights = table.responsibilities(theta).tolist()
            mean = [m + w / 18 for m, w in zip(mean, weights, strict=True)]
            entropies += entropy(weights) / 18
        assert result["emc"][seed].item() == pytest.approx(entropy(mean) / math.log(4), abs=1e-12)
        assert result["emc_per_sample"][seed].item() == pytest.approx(entropies / math.log(4), abs=1e-12)


def test_emc_is_one_on_an_even_split_and_zero_on_one_mode() -> None:
    target = MixtureOfGaussians(8)
    even = target.modes.reshape(1, 1, 8, 2)
    one = target.modes[:1].expand(1, 1, 8, 2)
    result = measure(context(target, 2, 8), BOTH, torch.cat([even, one], dim=1)).result()
    assert result["emc"][0].item() == pytest.approx(1.0, abs=0.01)
    assert 0.0 <= result["emc"][1].item() <= 0.01
    # The printed formula does not distinguish the two.
    assert result["emc_per_sample"].max().item() <= 0.01


def test_emc_stays_within_zero_and_one() -> None:
    target = corners(width=100.0)
    value = measure(context(target, 1, 5), [EMC], random_draws(target, 3, 1, 5)).result()["emc"].item()
    assert 0.999 < value <= 1.0


def test_responsibilities_of_exactly_zero_are_no_nan() -> None:
    target = corners(width=1e-3)
    result = measure(context(target, 1, 5), BOTH, random_draws(target, 3, 1, 5)).result()
    assert all(value.isfinite().all() for value in result.values())


@pytest.mark.parametrize(
    ("target", "draws", "value"),
    [
        (MixtureOfGaussians(8, energy="released"), "target", 0.134),
        (MixtureOfGaussians(8, energy="released"), "uniform", 0.138),
        (MixtureOfGaussians(8, energy="released"), "peak", 0.02),
        (MixtureOfStudentT(8, energy="released"), "target", 0.865),
        (MixtureOfStudentT(8, energy="released"), "peak", 1.0),
    ],
    ids=["mog target", "mog uniform", "mog peak", "mos target", "mos peak"],
)
def test_the_printed_formula_has_the_audits_values(target, draws: str, value: float) -> None:
    pi = target.probabilities()
    point = torch.zeros_like(pi)
    point[pi.argmax()] = 1.0
    frequencies = {"target": pi, "uniform": torch.full_like(pi, 1 / len(pi)), "peak": point}[draws]
    many = 10**9
    counts = (frequencies * many).round().long().unsqueeze(0)
    result = counted(context(target, 1, int(counts.sum())), BOTH, counts).result()
    assert result["emc_per_sample"].item() == pytest.approx(value, abs=0.005)
