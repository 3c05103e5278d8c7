"""A mistake in the table of an experiment is one sentence with its place in the block."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from runner.execution.errors import UserError
from runner.report.table_shape import table_shape

ROOT = Path(__file__).parents[3]

BLOCK: dict[str, Any] = {
    "title": "A table",
    "caption": "For the tests.",
    "published": {"file": "pt_dlp.csv", "versions": {"v1": {"paper": "pt-v1", "table": "Table 1"}}},
    "rows": [{"row": "A"}, {"row": "B", "role": "variant"}],
    "columns": [{"label": "eight", "where": {"target.components": 8}}],
    "metrics": [
        {"metric": "kl", "name": "KL", "direction": "min"},
        {"metric": "emc", "name": 3, "direction": "max"},
    ],
    "figures": [
        {
            "name": "figure",
            "panels": [
                {"kind": "intervals", "title": "KL", "columns": ["eight"], "metric": "kl", "limits": [0, 1]},
            ],
        }
    ],
}

MISSING = object()

MISTAKES: list[tuple[str, Any, str]] = [
    ("titel", 1, "unknown key 'table.titel'; did you mean 'title'? It may have: caption, columns, comp"),
    ("title", MISSING, "table needs the key 'title', which has no value."),
    (
        "columns.0.label",
        False,
        "table.columns[0].label must be a text (in quotes, if it is No, Off, Yes or On), False was given.",
    ),
    ("rows", "A", "table.rows must be a list, 'A' was given."),
    ("rows.1", "B", "table.rows[1] must be keys with values, 'B' was given."),
    (
        "rows.1.role",
        "vairant",
        "table.rows[1].role must be sampler or variant or draws, 'vairant' was given; did ",
    ),
    ("rows.1.exact", ["kl", {}], "table.rows[1].exact[1] must be a text, {} was given."),
    (
        "rows.1.suffix",
        "infinite",
        "table.rows[1].suffix is read in rows with exact alone; this",
    ),
    ("columns.0.where", 3, "table.columns[0].where must be keys with values, 3 was given."),
    ("metrics.1.direction", MISSING, "table.metrics[1] needs the key 'direction', which has no value."),
    ("metrics.1.direction", "up", "table.metrics[1].direction must be min or max or none, 'up' was given."),
    ("metrics.1.directoin", "min", "unknown key 'table.metrics[1].directoin'; did you mean 'direction'? It"),
    ("metrics.0.scale", "big", "table.metrics[0].scale must be a finite number, 'big' was given."),
    ("metrics.0.scale", True, "table.metrics[0].scale must be a finite number, True was given."),
    (
        "published.versions.v1.papr",
        "x",
        "unknown key 'table.published.versions.v1.papr'; did you mean 'paper'?",
    ),
    ("published.versions.v1", 3, "table.published.versions.v1 must be keys with values, 3 was given."),
    (
        "figures.0.name",
        "../../evil",
        "table.figures[0].name must be a file name of letters, digits, spaces and ., _, +, -, '../../evil",
    ),
    ("figures.0.name", ".hidden", "table.figures[0].name must be a file name of letters, digits, spaces and"),
    (
        "figures",
        [{"name": "same", "panels": []}, {"name": "same", "panels": []}],
        "table.figures[1].name is 'same', as that of table.figures[0] is; each needs its own.",
    ),
    ("figures.0.across", 1.5, "table.figures[0].across must be a whole number, 1.5 was given."),
    (
        "figures.0.panels.0.kind",
        MISSING,
        "table.figures[0].panels[0] needs the key 'kind', which has no value.",
    ),
    (
        "figures.0.panels.0.log",
        "yes",
        "table.figures[0].panels[0].log must be true or false, 'yes' was given.",
    ),
    (
        "figures.0.panels.0.metric",
        "lk",
        "table.figures[0].panels[0].metric names 'lk', which is not among table.metrics; did you mean 'kl'? ",
    ),
    (
        "figures.0.panels.0.columns",
        ["eight", "eihgt"],
        "table.figures[0].panels[0].columns[1] names 'eihgt', which is not among table.columns; did you mean",
    ),
    (
        "metrics.1.floor",
        "AA",
        "table.metrics[1].floor names 'AA', which is not among table.rows; did you mean",
    ),
    (
        "metrics.1.rows",
        ["B", "C"],
        "table.metrics[1].rows[1] names 'C', which is not among table.rows. Allowed: A, B.",
    ),
    (
        "metrics.0.published",
        {"v2": "x"},
        "table.metrics[0].published names 'v2', which is not among table.pub",
    ),
    (
        "comparisons",
        [{"metric": "kl", "rows": ["A", "A"]}],
        "table.comparisons[0].rows must be two rows, 'A, A' was given.",
    ),
    (
        "growths",
        [{"metric": "kl", "x": "stpe", "symbol": "n", "along": "eight"}],
        "table.growths[0].x must be one of step, evaluations, seconds along a run, 'stpe' was given; did you",
    ),
    (
        "growths",
        [{"metric": "kl", "x": "task.steps", "symbol": "n", "power": n, "rows": ["A"]} for n in (2, 4)],
        "table.growths[1] fits kl of 'A' as n^p, as table.growths[0] does; each fit of a row needs",
    ),
    (
        "growths",
        [
            {"metric": "kl", "x": "task.steps", "symbol": "n", "power": 2, "exponential": True, **rows}
            for rows in ({}, {"rows": ["A"]})
        ],
        "table.growths[1] fits kl of 'A' as exp(p n^2), as table.growths[0] does; each fit of a row needs",
    ),
    (
        "figures.0.panels.0.limits",
        [0, "a"],
        "table.figures[0].panels[0].limits[1] must be a finite number, '",
    ),
    ("metrics.0.scale", math.nan, "table.metrics[0].scale must be a finite number, nan was given."),
    ("metrics.0.scale", 0, "table.metrics[0].scale must be a number above 0, 0 was given."),
    ("metrics.0.scale", -0.001, "table.metrics[0].scale must be a number above 0, -0.001 was given."),
    ("figures.0.across", 0, "table.figures[0].across must be a number above 0, 0 was given."),
    ("figures.0.width", 0.0, "table.figures[0].width must be a number above 0, 0.0 was given."),
    ("figures.0.height", -2, "table.figures[0].height must be a number above 0, -2 was given."),
    (
        "figures.0.panels.0.limits",
        [0.5],
        "table.figures[0].panels[0].limits must be two numbers, the first below the second, [0.5] was given.",
    ),
    (
        "figures.0.panels.0.limits",
        [1, 0],
        "table.figures[0].panels[0].limits must be two numbers, the first below the second, [1, 0] was",
    ),
    (
        "figures.0.panels.0.x_power",
        0,
        "table.figures[0].panels[0].x_power must be a number other than 0, 0 was given.",
    ),
    (
        "growths",
        [{"metric": "kl", "x": "step", "symbol": "n", "along": "eight", "power": 0}],
        "table.growths[0].power must be a number other than 0, 0 was given.",
    ),
]


def with_mistake(path: str, value: Any) -> dict[str, Any]:
    """The block with `value` at a dotted path, or without what is there."""
    block = copy.deepcopy(BLOCK)
    *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
    place: Any = block
    for part in way:
        place = place[part]
    if value is MISSING:
        del place[last]
    else:
        place[last] = value
    return block


def test_the_block_without_a_mistake_is_a_table() -> None:
    shape = table_shape("mine", OmegaConf.create(BLOCK))
    assert [metric.name for metric in shape.metrics] == ["KL", "3"]
    assert shape.figures[0].panels[0].limits == [0.0, 1.0]


@pytest.mark.parametrize(("path", "value", "said"), MISTAKES, ids=[said for _, _, said in MISTAKES])
def test_a_mistake_is_named_with_its_place(path: str, value: Any, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(f"Experiment mine: {said}")) as refused:
        table_shape("mine", OmegaConf.create(with_mistake(path, value)))
    assert "\n" not in str(refused.value)


def test_the_block_is_no_table_at_all() -> None:
    with pytest.raises(
        UserError, match=r"Experiment mine: table must be keys with values, \['A'\] was given\."
    ):
        table_shape("mine", OmegaConf.create(["A"]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "conf" / "experiment").glob("*.yaml")), ids=lambda path: path.stem
)
def test_the_tables_of_the_project_have_none(path: Path) -> None:
    content = OmegaConf.load(path)
    assert isinstance(content, Mapping) or OmegaConf.is_dict(content)
    assert table_shape(path.stem, content.table).metrics
