"""What the findings say of ladders on all image sets together, recomputed from the values of each model."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from metrics.inference.few_seeds import holm

ROOT = Path(__file__).parents[3]
FINDINGS = (ROOT / "docs" / "results" / "findings.md").read_text(encoding="utf-8")
SETS = ("mnist", "emnist", "kmnist", "omniglot", "caltech")
STARTS = ("one-mode", "random")
LADDERS = tuple(f"PT-DMALA, K = {name}" for name in ("4, published", "4", "8", "16", "22"))
NAMES = ("4, published steps", "4", "8", "16", "22")


def values(dataset: str, start: str) -> pd.DataFrame:
    """log-MMD by row, one column for each model."""
    path = ROOT / "outputs" / "record" / f"rbm_tempering_paper-{dataset}-{start}" / "seeds.csv"
    frame = pd.read_csv(path)
    return frame[frame["metric"] == "log_mmd"].set_index("row").drop(columns=["cell", "metric"])


def differences(row: str, other: str, start: str, sets: tuple[str, ...] = SETS) -> list[NDArray[np.float64]]:
    """Row less other on each model, set by set."""
    tables = [values(name, start) for name in sets]
    return [(table.loc[row] - table.loc[other]).dropna().to_numpy() for table in tables]


def pooled(parts: list[NDArray[np.float64]]) -> tuple[float, float, float]:
    """Mean over the sets, half its 95 % interval and its p-value, by Welch and Satterthwaite."""
    squares = np.array([part.var(ddof=1) / len(part) for part in parts])
    mean, error = np.mean([part.mean() for part in parts]), np.sqrt(squares.sum()) / len(parts)
    free = squares.sum() ** 2 / (squares**2 / [len(part) - 1 for part in parts]).sum()
    return (
        float(mean),
        float(stats.t.ppf(0.975, free) * error),
        float(2 * stats.t.sf(abs(mean) / error, free)),
    )


@pytest.mark.parametrize(("ladder", "name"), list(zip(LADDERS, NAMES, strict=True)))
def test_the_table_of_all_sets_together(ladder: str, name: str) -> None:
    cells = [name]
    for start in STARTS:
        parts = differences(ladder, "DMALA", start)
        mean, margin, _ = pooled(parts)
        models = np.concatenate(parts)
        cells += [f"{mean:.2f} ± {margin:.2f}", f"{(models > 0).sum()} of {len(models)}"]
    assert f"| {' | '.join(cells)} |" in FINDINGS


def ten(sets: tuple[str, ...]) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Mean, half its interval and adjusted p-value of each ladder from each start."""
    found = {
        (start, row): pooled(differences(row, "DMALA", start, sets)) for start in STARTS for row in LADDERS
    }
    adjusted = holm([p for _, _, p in found.values()])
    return {
        place: (mean, margin, float(p or 0.0))
        for (place, (mean, margin, _)), p in zip(found.items(), adjusted, strict=True)
    }


def test_all_ten_are_significant() -> None:
    largest = max(p for _, _, p in ten(SETS).values())
    assert largest < 0.05
    assert (
        f"All ten differences are significant after correction for the ten (adjusted p at most {largest:.3f})"
        in FINDINGS
    )


def test_without_caltech_eight_of_ten_are() -> None:
    found = ten(SETS[:-1])
    weak = {place: values for place, values in found.items() if values[2] >= 0.05}
    assert weak.keys() == {("random", row) for row in LADDERS[:2]}
    published, tuned = (f"{mean:.2f} ± {margin:.2f}" for mean, margin, _ in weak.values())
    assert f"{published} with published steps and {tuned}." in FINDINGS


def test_how_often_a_state_comes_down_renewed() -> None:
    """From the hottest of 16 and 22 replicas, in the mean over models."""
    means = []
    for name, start in itertools.product(SETS, STARTS):
        folder = ROOT / "outputs" / "record" / f"rbm_tempering_paper-{name}-{start}"
        table = pd.read_csv(folder / "table.csv").set_index(["row", "metric"])["mean"]
        means += [table[row, "renewed_round_trips"] for row in LADDERS[3:]]
    assert f"come down to the cold one {min(means):.0f} to {max(means):.0f} times" in FINDINGS


def test_ladders_around_block_gibbs() -> None:
    found = [
        pooled(differences(f"PT block Gibbs, K = {replicas}", "block Gibbs", start))
        for replicas in (8, 22)
        for start in STARTS
    ]
    lowest, highest = min(mean for mean, _, _ in found), max(mean for mean, _, _ in found)
    least = min(p for _, _, p in found)
    said = f"block Gibbs alone are {lowest:.2f} to {highest:.2f} (unadjusted p of at least {least:.2f})"
    assert said in FINDINGS


def test_which_of_the_fifty_single_tests_remain() -> None:
    tests = {
        (name, start, row): float(stats.ttest_1samp(part, 0.0).pvalue)
        for start in STARTS
        for row in LADDERS
        for name, part in zip(SETS, differences(row, "DMALA", start), strict=True)
    }
    adjusted = dict(zip(tests, holm(list(tests.values())), strict=True))
    remain = [name for (name, _, _), p in adjusted.items() if p is not None and p < 0.05]
    assert remain == ["caltech"] * 3
    assert re.search(r"Corrected for the 50 tests .*, three of Caltech remain\.", FINDINGS)
