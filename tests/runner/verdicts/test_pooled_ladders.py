"""What the findings say of ladders on all image sets together, recomputed from the values of each model."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from metrics.inference.few_seeds import POWER, holm, standard_errors_found

ROOT = Path(__file__).parents[3]
FINDINGS = (ROOT / "docs" / "results" / "findings.md").read_text(encoding="utf-8")
FOUR = ("mnist", "emnist", "kmnist", "omniglot")
SETS = (*FOUR, "caltech")
STARTS = ("one-mode", "random")
LADDERS = tuple(f"PT-DMALA, K = {name}" for name in ("4, published", "4", "8", "16", "22"))
MANY = {4: "four", 5: "all five"}
NAMES = ("4, published steps", *(f"{replicas}, tuned steps" for replicas in (4, 8, 16, 22)))


def values(dataset: str, start: str) -> pd.DataFrame:
    """log-MMD by row, one column for each model."""
    path = ROOT / "outputs" / "record" / f"rbm_tempering_paper-{dataset}-{start}" / "seeds.csv"
    frame = pd.read_csv(path)
    return frame[frame["metric"] == "log_mmd"].set_index("row").drop(columns=["cell", "metric"])


def differences(row: str, other: str, start: str, sets: tuple[str, ...] = FOUR) -> list[NDArray[np.float64]]:
    """Row less other on each model, set by set."""
    tables = [values(name, start) for name in sets]
    return [(table.loc[row] - table.loc[other]).dropna().to_numpy() for table in tables]


def errors(parts: list[NDArray[np.float64]]) -> tuple[float, float]:
    """Standard error of the mean over the sets, and its degrees of freedom, by Welch and Satterthwaite."""
    squares = np.array([part.var(ddof=1) / len(part) for part in parts])
    free = squares.sum() ** 2 / (squares**2 / [len(part) - 1 for part in parts]).sum()
    return float(np.sqrt(squares.sum()) / len(parts)), float(free)


def pooled(parts: list[NDArray[np.float64]]) -> tuple[float, float, float]:
    """Mean over the sets, half its 95 % interval and its p-value."""
    mean, (error, free) = float(np.mean([part.mean() for part in parts])), errors(parts)
    return mean, float(stats.t.ppf(0.975, free)) * error, float(2 * stats.t.sf(abs(mean) / error, free))


def found(parts: list[NDArray[np.float64]], number: int) -> float:
    """Smallest true mean that one of so many tests finds."""
    error, free = errors(parts)
    return error * standard_errors_found(free, POWER, number)


@pytest.mark.parametrize(("ladder", "name"), list(zip(LADDERS, NAMES, strict=True)))
def test_the_table_of_four_sets_together(ladder: str, name: str) -> None:
    cells = [name]
    for start in STARTS:
        parts = differences(ladder, "DMALA", start)
        mean, margin, _ = pooled(parts)
        models = np.concatenate(parts)
        cells += [f"{mean:.2f} ± {margin:.2f}", f"{(models > 0).sum()} of {len(models)}"]
    assert f"| {' | '.join(cells)} |" in FINDINGS


def own_tests(dataset: str, start: str) -> pd.DataFrame:
    """The table's own tests of the five ladders against DMALA, each corrected for all nine of the table."""
    path = ROOT / "outputs" / "record" / f"rbm_tempering_paper-{dataset}-{start}" / "comparisons.csv"
    frame = pd.read_csv(path)
    return frame[(frame["metric"] == "log_mmd") & (frame["against"] == "DMALA")]


def in_words(p_values: pd.Series) -> str:
    """How many of the five are significant."""
    own = p_values[p_values < 0.05]
    if len(own) < 2:
        return f"one (p = {own.item():.4f})" if len(own) else "none"
    return f"{MANY[len(own)]} (p of {own.min():#.2g} to {own.max():#.2g})"


@pytest.mark.parametrize("dataset", SETS)
@pytest.mark.parametrize("start", STARTS)
def test_the_table_set_by_set(dataset: str, start: str) -> None:
    tests, models = own_tests(dataset, start), values(dataset, start)
    assert len(tests) == 5
    means, found = tests["difference"], tests["detectable"][tests["holm_p_value"] >= 0.05]
    above = float((models.loc["DMALA"] - models.loc["two ground-truth sets"]).max())
    cells = [
        f"{means.min():.2f} to {means.max():.2f}",
        in_words(tests["holm_p_value"]),
        " to ".join(dict.fromkeys(f"{one:#.2g}" for one in sorted(found)[:: max(len(found) - 1, 1)])),
        "void" if dataset == "caltech" else f"{above:#.2g}",
    ]
    anchor = f"(models.md#rbm_tempering_paper-{dataset}-{start}) |"
    line = next(line for line in FINDINGS.splitlines() if anchor in line)
    assert [cell.strip() for cell in line.split("|")[2:-1]] == cells


@dataclass(frozen=True)
class Pooled:
    """A test of the analysis, with its p-value corrected for all of them."""

    mean: float
    p: float
    found: float
    models: int


def corrected(sets: tuple[str, ...]) -> dict[tuple[str, str], Pooled]:
    """Each ladder around DMALA, and two around block Gibbs, against the kernel alone, from each start."""
    pairs = [(row, "DMALA") for row in LADDERS]
    pairs += [(f"PT block Gibbs, K = {replicas}", "block Gibbs") for replicas in (8, 22)]
    parts = {(start, row): differences(row, other, start, sets) for start in STARTS for row, other in pairs}
    adjusted = holm([pooled(one)[2] for one in parts.values()])
    return {
        place: Pooled(pooled(one)[0], float(p or 0.0), found(one, len(parts)), sum(map(len, one)))
        for (place, one), p in zip(parts.items(), adjusted, strict=True)
    }


def test_seven_of_the_ten_around_dmala_are_significant() -> None:
    own = {place: one for place, one in corrected(FOUR).items() if "block Gibbs" not in place[1]}
    weak = {place: one for place, one in own.items() if one.p >= 0.05}
    assert weak.keys() == {("random", row) for row in LADDERS[:3]}
    largest = max(one.p for place, one in own.items() if place not in weak)
    assert f"Seven of the ten are significant (adjusted p at most {largest:.4f})." in FINDINGS
    low, high = (pick(one.p for one in weak.values()) for pick in (min, max))
    least, most = (pick(one.found for one in weak.values()) for pick in (min, max))
    assert f"(adjusted p of {low:.3f} to {high:.2f}, n = 20 models; " in FINDINGS
    assert f"n = 20 models; {least:.2f} to {most:.2f} would have been found)" in FINDINGS
    assert {one.models for one in own.values()} == {20}


def test_around_block_gibbs_none_is_significant() -> None:
    own = [one for place, one in corrected(FOUR).items() if "block Gibbs" in place[1]]
    assert min(one.p for one in own) > 0.05
    means, found = [one.mean for one in own], [one.found for one in own]
    assert f"block Gibbs alone are {min(means):.2f} to {max(means):.2f} in the mean." in FINDINGS
    assert f"starts; {min(found):.2f} to {max(found):.2f} would have been found)." in FINDINGS
    assert sorted(one.models for one in own) == [19, 20, 20, 20]


def test_with_caltech_nine_of_ten_are() -> None:
    own = {place: one for place, one in corrected(SETS).items() if "block Gibbs" not in place[1]}
    assert [place for place, one in own.items() if one.p >= 0.05] == [("random", LADDERS[1])]
    spans = []
    for start in STARTS:
        means = [one.mean for (begun, _), one in own.items() if begun == start]
        spans.append(f"{min(means):.2f} to {max(means):.2f}")
    assert (
        f"With Caltech the means are {spans[0]} from one mode and {spans[1]} from random starts" in FINDINGS
    )


def test_nothing_follows_for_a_sixth_set() -> None:
    """With sets as the unit, five of them, none of the ten is significant."""
    p_values = [
        float(stats.ttest_1samp([part.mean() for part in differences(row, "DMALA", start, SETS)], 0.0).pvalue)
        for start in STARTS
        for row in LADDERS
    ]
    assert min(p or 0.0 for p in holm(p_values)) > 0.05


def test_what_the_pilots_take() -> None:
    taken: dict[bool, list[float]] = {True: [], False: []}
    for name, start in itertools.product(SETS, STARTS):
        folder = ROOT / "outputs" / "record" / f"rbm_tempering_paper-{name}-{start}"
        table = pd.read_csv(folder / "table.csv").set_index(["row", "metric"])["mean"]
        for row, metric in table.index:
            tuned = metric == "tuning_evaluations" and table[row, metric] > 0
            if tuned and row.removeprefix("PT-").startswith("DMALA"):
                taken[row != "DMALA"].append(table[row, metric])
    assert f"They take {min(taken[True]):,.0f} to {max(taken[True]):,.0f} evaluations a chain" in FINDINGS
    assert all(315 < one < 335 for one in taken[False])


def test_how_often_a_state_comes_down_renewed() -> None:
    """From the hottest of 16 and 22 replicas, in the mean over models."""
    means = []
    for name, start in itertools.product(SETS, STARTS):
        folder = ROOT / "outputs" / "record" / f"rbm_tempering_paper-{name}-{start}"
        table = pd.read_csv(folder / "table.csv").set_index(["row", "metric"])["mean"]
        means += [table[row, "renewed_round_trips"] for row in LADDERS[3:]]
    assert f"in the mean of a table {min(means):.0f} to {max(means):.0f} round trips" in FINDINGS


def test_which_of_the_fifty_single_tests_remain() -> None:
    single_tests = {
        (name, start, row): float(stats.ttest_1samp(part, 0.0).pvalue)
        for start in STARTS
        for row in LADDERS
        for name, part in zip(SETS, differences(row, "DMALA", start, SETS), strict=True)
    }
    adjusted = dict(zip(single_tests, holm(list(single_tests.values())), strict=True))
    remain = [name for (name, _, _), p in adjusted.items() if p is not None and p < 0.05]
    assert remain == ["caltech"] * 3
    single = sum(p < 0.05 for p in single_tests.values())
    assert f"in which {single} of 50 single tests have p below 0.05 uncorrected" in FINDINGS
    others = holm([p for (name, _, _), p in single_tests.items() if name != "caltech"])
    assert min(p or 0.0 for p in others) > 0.05
    assert "Corrected for all 50 tests at 40,000 evaluations, three of Caltech remain" in FINDINGS
    assert "and none of the 40 of the other sets." in FINDINGS
