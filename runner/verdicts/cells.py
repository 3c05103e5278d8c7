"""The published numbers of conf/published, one by one, and the numbers of ours that stand beside each."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

import conf
from runner.execution.errors import UserError
from runner.files.plain_yaml import plain_yaml
from runner.report.published import Published, published_numbers, read_published
from runner.report.table_shape import MetricShape, TableShape, table_shape

CONF = Path(conf.__path__[0])

PART = re.compile(r"(\D*)(\d*)")
"""Of the name of a table: what stands before a number, and the number."""


@dataclass(frozen=True)
class Block:
    """A column of a published table in one metric: the rows that the paper ranks against each other."""

    paper: str
    table: str
    metric: str
    column: str

    @property
    def table_order(self) -> tuple[str, bool, list[tuple[str, int]], str]:
        """Tables by number, then figures and others, paper by paper: Table 2, 2.1, 10, S1, Figure 3a."""
        parts = [(text, int(number or 0)) for text, number in PART.findall(self.table)]
        return self.paper, not self.table.startswith("Table"), parts, self.table


@dataclass(frozen=True)
class Counterpart:
    """Where our numbers for a block stand: a metric and a column of an experiment's table.

    Attributes:
        rows: by the paper's name of a row, ours.
        reading: how these rows read the published settings; empty for the first way.
        first: of another way the rows of the first, by which `conf/published/protocols.yaml` names them.
    """

    experiment: str
    metric: MetricShape
    column: str
    rows: Mapping[str, str]
    reading: str = ""
    first: Mapping[str, str] = field(default_factory=dict)


def published_blocks() -> dict[Block, dict[str, Published]]:
    """Every published number: by block, and by row as the paper calls it.

    Raises:
        UserError: if a file of conf/published has a mistake, or two have one number.
    """
    blocks: dict[Block, dict[str, Published]] = {}
    for path in sorted((CONF / "published").glob("*.csv")):
        for (paper, table), numbers in read_published(path).items():
            for (metric, setting, sampler), number in numbers.items():
                block = blocks.setdefault(Block(paper, table, metric, setting), {})
                if sampler in block:
                    named = ", ".join((paper, table, setting, sampler, metric))
                    raise UserError(
                        f"{path.name}: {named} must stand once, another file of conf/published has it."
                    )
                block[sampler] = number
    return blocks


@functools.cache
def published_shapes() -> dict[str, TableShape]:
    """The tables of all experiments beside which published numbers stand, by experiment.

    Raises:
        UserError: if one names a published number that is not there (`published_numbers`).
    """
    shapes = {}
    for path in sorted((CONF / "experiment").glob("*.yaml")):
        table = (plain_yaml(path.read_bytes()) or {}).get("table") or {}
        if table.get("published"):
            block = OmegaConf.create(table)
            assert isinstance(block, DictConfig)
            shapes[path.stem] = table_shape(path.stem, block)
            published_numbers(shapes[path.stem])
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
