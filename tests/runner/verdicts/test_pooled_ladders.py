"""What the findings say of ladders on all image sets together, recomputed from the values of each model."""

from __future__ import annotations

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


def test_which_of_the_ten_are_significant() -> None:
    for sets, most in ((SETS, 10), (SETS[:-1], 8)):
        found = {
            (start, row): pooled(differences(row, "DMALA", start, sets))
            for start in STARTS
            for row in LADDERS
        }
        adjusted = dict(zip(found, holm([p for _, _, p in found.values()]), strict=True))
        assert sum(p is not None and p < 0.05 for p in adjusted.values()) == most
        if most == 10:
            assert max(adjusted.values()) == pytest.approx(0.033, abs=5e-4)
            continue
        for row in LADDERS[:2]:
            mean, margin, _ = found["random", row]
            assert adjusted["random", row] > 0.05
            assert f"{mean:.2f} ± {margin:.2f}" in FINDINGS


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
