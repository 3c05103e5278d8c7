"""The published numbers of conf/published, one by one, and the numbers of ours that stand beside each."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig, OmegaConf

import conf
from runner.files.plain_yaml import plain_yaml
from runner.report.published import Published
from runner.report.table_shape import MetricShape, TableShape, table_shape

CONF = Path(conf.__path__[0])


@dataclass(frozen=True)
class Block:
    """A column of a published table in one metric: the rows that the paper ranks against each other."""

    paper: str
    table: str
    metric: str
    column: str

    @property
    def table_order(self) -> tuple[str, bool, int]:
        """Tables by number, then figures, paper by paper."""
        kind, _, number = self.table.partition(" ")
        return self.paper, kind != "Table", int(number)


@dataclass(frozen=True)
class Counterpart:
    """Where our numbers for a block stand: a metric and a column of an experiment's table.

    Attributes:
        rows: by the paper's name of a row, ours.
    """

    experiment: str
    metric: MetricShape
    column: str
    rows: Mapping[str, str]


def published_blocks() -> dict[Block, dict[str, Published]]:
    """Every published number: by block, and by row as the paper calls it."""
    blocks: dict[Block, dict[str, Published]] = {}
    for path in sorted((CONF / "published").glob("*.csv")):
        frame = pd.read_csv(path, comment="#", dtype={"mean": str})
        for line in frame.to_dict("records"):
            block = Block(line["paper"], line["table"], line["metric"], line["setting"])
            spread = None if pd.isna(line["std"]) else float(line["std"])
            decimals = len(line["mean"].partition(".")[2])
            number = Published(float(line["mean"]), spread, float(line["unit_scale"]), decimals)
            blocks.setdefault(block, {})[line["sampler"]] = number
    return blocks


@functools.cache
def published_shapes() -> dict[str, TableShape]:
    """The tables of all experiments beside which published numbers stand, by experiment."""
    shapes = {}
    for path in sorted((CONF / "experiment").glob("*.yaml")):
        table = (plain_yaml(path.read_bytes()) or {}).get("table") or {}
        if table.get("published"):
            block = OmegaConf.create(table)
            assert isinstance(block, DictConfig)
            shapes[path.stem] = table_shape(path.stem, block)
    return shapes


def counterparts(shapes: Mapping[str, TableShape]) -> dict[Block, list[Counterpart]]:
    """The places in our tables that the experiments' YAML sets beside each published block."""
    found: dict[Block, list[Counterpart]] = {}
    for experiment, shape in shapes.items():
        assert shape.published is not None
        for label, version in shape.published.versions.items():
            rows = {row.published[label]: row.row for row in shape.rows if label in row.published}
            for metric in shape.metrics:
                for column in shape.columns:
                    if label in metric.published and column.published is not None:
                        block = Block(version.paper, version.table, metric.published[label], column.published)
                        place = Counterpart(experiment, metric, column.label, rows)
                        found.setdefault(block, []).append(place)
    return found


def spread_of(numbers: Iterable[Published]) -> float:
    """Largest less smallest of the published means, in the metric's own unit."""
    means = [number.mean * number.scale for number in numbers]
    return max(means) - min(means)
