"""A run is named by the row of the experiment that made it, whatever way the row writes its overrides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from runner.loggers.run_names import run_name
from runner.loggers.table_place import TablePlace
from tests.support.tables import placed

EXPERIMENTS = sorted(path.stem for path in Path("conf/experiment").glob("*.yaml"))

WRITTEN = {
    "edlp_figure11": "a share of the steps of the scale",
    "edlp_table3": "rows of another file",
    "field_optimisation": "a tempering beside the sampler",
    "pt_figure3": "a ladder as a text",
    "stmh_figure1": "a value that the distance decides",
    "stmh_table1": "values of its own at a scale",
}
"""Experiments, and what their rows have."""


def check_names(experiment: str, scale: str) -> None:
    for run in placed(experiment, f"scale={scale}").runs:
        config = OmegaConf.to_container(run.config, resolve=True)
        assert isinstance(config, dict)
        named = run_name({**{str(key): node for key, node in config.items()}, "seed": run.seed}, {})
        assert (named.row, named.column) == (run.row, run.column)


@pytest.mark.parametrize("experiment", WRITTEN)
def test_a_run_has_the_name_of_its_row(experiment: str) -> None:
    check_names(experiment, "smoke")


@pytest.mark.slow
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_run_has_the_name_of_its_row(experiment: str) -> None:
    check_names(experiment, "paper")


def place_of(row: dict[str, Any], **settings: Any) -> str | None:
    experiment = {"sweep": {"rows": [{"row": "A", **row}]}, "own": {"half": 3, "sides": [6, 4.0]}}
    return TablePlace(experiment, {"target": {"size": 6}, "scale": {"name": "large"}}, settings).row


@pytest.mark.parametrize(
    ("row", "fits"),
    [
        ({"seeds": {"quick": 4}}, True),
        ({"metric": "[ess]"}, True),
        ({"tempering": "none"}, True),
        ({"target.size": [5, 6]}, True),
        ({"target.size": [5, 7]}, False),
        ({"target.size": "6.0"}, True),
        ({"target.size": "'${own.half}'"}, False),
        ({"target.size": "'${target.size}'"}, True),
        ({"target.sides": "'${own.sides}'"}, True),
        ({"target.sides": "[6.0,4]"}, True),
        ({"target.sides": "[6,5]"}, False),
        ({"target.sides": "['${target.size}',4]"}, True),
        ({"target.sides": "['${own.half}',4]"}, False),
        ({"target.nothing": None}, True),
        ({"target.nothing": "'${own.none}'"}, False),
        ({"tempering": ["none", "parallel"]}, True),
        ({"tempering": "parallel"}, False),
        ({"target.size": "'${own.none}'"}, False),
        ({"scales": {"paper": {"target.size": 5}, "quick": {"target.size": [4, 6]}}}, True),
        ({"target.size": 5, "scales": {"quick": {"target.size": 4}}}, False),
        ({"target.size": 5, "scales": {"quick": {"target.size": 6}}}, True),
        ({"target.size": 6, "scales": {"quick": {"target.size": 5}}}, True),
        ({"target.size": 6, "scales": {"large": {"target.size": 5}, "quick": {"target.size": 5}}}, False),
        ({"target.width": 1}, False),
    ],
)
def test_a_row_is_that_of_a_run_if_its_overrides_are(row: dict[str, Any], fits: bool) -> None:
    settings = {"sampler": "dmala", "scale": "large", "target.size": 6, "target.sides": "[6, 4]"}
    place = place_of({"sampler": "dmala", **row}, **settings, **{"target.nothing": None})
    assert place == ("A" if fits else None)


@pytest.mark.parametrize(
    ("one", "other", "label"),
    [
        ({}, {"target.size": 6}, "B"),
        ({"metric": "[ess]", "tempering": "none"}, {"target.size": 6}, "B"),
        ({"target.size": 5, "scales": {"quick": {"target.size": 6}}}, {"target.size": 6}, "B"),
        ({"target.size": 5, "scales": {"quick": {"target.size": 6}}}, {"target.size": 4}, "A"),
        ({"target.size": 6, "target.width": 2}, {"target.size": 6}, "A"),
    ],
)
def test_of_several_rows_it_is_the_one_that_says_most_at_the_runs_scale(
    one: dict[str, Any], other: dict[str, Any], label: str
) -> None:
    rows = [{"row": "A", "sampler": "dmala", **one}, {"row": "B", "sampler": "dmala", **other}]
    settings = {"sampler": "dmala", "scale": "large", "target.size": 6, "target.width": 2}
    assert TablePlace({"sweep": {"rows": rows}}, {}, settings).row == label


def test_the_keys_of_a_tempering_are_those_of_the_sampler_around_it() -> None:
    row = {"sampler": "dmala", "tempering": "annealed", "tempering.schedule": "linear", "sampler.norm": 1}
    settings = {"sampler": "annealed_dmala", "sampler.schedule": "linear", "sampler.kernel.norm": 1}
    assert place_of(row, **settings) == "A"
    assert place_of({**row, "sampler.step_size": 2}, **settings, **{"sampler.step_size": 2}) == "A"
    assert place_of({**row, "tempering.schedule": "geometric"}, **settings) is None
    assert place_of({**row, "tempering": "parallel"}, **settings) is None
    assert place_of({**row, "tempering": ["parallel", "annealed"]}, **settings) == "A"
    assert place_of({"sampler": "annealed_dmala", "tempering": "none"}, **settings) == "A"
    assert place_of({**row, "sampler": "gibbs"}, **settings) is None
    assert place_of(row, sampler="dmala") is None
