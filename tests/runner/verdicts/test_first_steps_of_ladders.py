"""When ladders on RBMs come near the floor: typed numbers, recomputed from the values of each model."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from runner.verdicts.readings.texts import reading_text
from tests.runner.verdicts.test_pooled_ladders import FINDINGS, LADDERS, ROOT, SETS, STARTS, values

LONG = ROOT / "outputs" / "record" / "rbm_tempering_paper-kmnist-one-mode-long"
REPLICAS = (4, 8, 16, 22)


def first_steps(folder: Path) -> pd.DataFrame:
    """First step within 0.3 nats of the floor by row, one column for each model; NaN where there is none."""
    frame = pd.read_csv(folder / "seeds.csv")
    return frame[frame["metric"] == "hit_step"].set_index("row").drop(columns=["cell", "metric"])


def by_evaluations(replicas: int) -> pd.Series:
    """Of each model, in the long runs on KMNIST."""
    return first_steps(LONG).loc[f"PT-DMALA, K = {replicas}"] * replicas


def test_first_steps_on_the_models_that_all_rows_have() -> None:
    common = first_steps(LONG).dropna(axis="columns")
    assert common.shape[1] == 4
    lines = reading_text(LONG).splitlines()
    for replicas in (1, *REPLICAS):
        name = "DMALA" if replicas == 1 else f"PT-DMALA, K = {replicas}"
        mean = common.loc[name].mean()
        line = next(
            line
            for line in lines
            if line.startswith(f"| {replicas} ") and line.count("|") == 7 and "±" not in line
        )
        assert line.split("|")[4:6] == [f" {mean:,.1f} ".replace(".0 ", " "), f" {mean * replicas:,.0f} "]


@pytest.mark.parametrize(("replicas", "models"), [(4, 4), (8, 5)])
def test_evaluations_to_the_floor_against_those_of_dmala(replicas: int, models: int) -> None:
    ours, alone = by_evaluations(replicas), first_steps(LONG).loc["DMALA"]
    assert (ours > alone).sum() == models
    assert f"{replicas} replicas take {ours.min():,.0f} to {ours.max():,.0f}, " in reading_text(LONG)


def test_what_two_steps_would_cost_four_replicas() -> None:
    """At twice the price of a step they are sooner on two models, those on which DMALA is slowest."""
    steps = first_steps(LONG)
    sooner = 2 * steps.loc["PT-DMALA, K = 4"] < steps.loc["DMALA"]
    assert set(steps.columns[sooner]) == set(steps.loc["DMALA"].nlargest(2).index)


def test_the_long_runs_in_the_findings() -> None:
    steps = first_steps(LONG)
    eight = steps.loc["PT-DMALA, K = 8"].mean()
    said = f"{eight:,.0f} steps in the mean, which are {8 * eight:,.0f} evaluations"
    assert f"{said}, and {steps.loc['DMALA'].mean():,.0f}." in FINDINGS


def test_the_largest_gain_of_a_ladder_on_one_model() -> None:
    gains = {
        (name, start): (table.loc["DMALA"] - table.loc[list(LADDERS)]).max().max()
        for name in SETS
        for start in STARTS
        for table in [values(name, start)]
    }
    assert max(gains, key=lambda place: gains[place]) == ("emnist", "random")
    assert f"The largest gain of a ladder on any model is {max(gains.values()):.2f} nats" in FINDINGS
