"""What the page of an experiment says of each number in its table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from runner.report.page.layout import NOTHING, Cell
from runner.report.table_shape import Orientation
from runner.site.content.charts import said_of
from runner.site.content.experiment_data import ExperimentData, metrics_of


@dataclass(frozen=True)
class CellFacts:
    """What is said of a number when it is pointed at, what it is sorted by, and whether it is a paper's.

    `order` is None where there is no finite value: tables sort an empty one before all numbers, as numbers.
    """

    hover: str = ""
    order: float | None = None
    published: bool = False


def cell_facts(data: ExperimentData) -> list[list[list[CellFacts]]]:
    """Of every cell, by block and line: interval and seeds of ours, to the last digit.

    Page and numbers were written together: their metrics have the same order, and the page says their units.
    The experiment may have other ones by now.
    """
    if data.page is None:
        return []
    found = {(each["metric"], each["row"], each["cell"]): each for each in data.frame.to_dict("records")}
    turned = data.shape.orientation is Orientation.columns_down
    facts = []
    for block, metric in zip(data.page.blocks, metrics_of(data.frame), strict=True):
        scale = block.label.unit or 1.0
        over = [(group.label.text, place > 0) for group in block.groups for place in range(len(group.heads))]
        lines = []
        for line in block.lines:
            own = []
            for cell, (other, published) in zip(line.cells, over, strict=True):
                row, column = (other, line.label.text) if turned else (line.label.text, other)
                if published:
                    own.append(CellFacts("as printed", None if cell is None else _printed(cell), True))
                else:
                    own.append(_fact(cell, found.get((metric, row, column)), scale))
            lines.append(own)
        facts.append(lines)
    return facts


def _fact(cell: Cell | None, number: Mapping[Any, Any] | None, scale: float) -> CellFacts:
    if cell is None:
        return CellFacts()
    if number is None:
        return CellFacts("", _printed(cell))
    mean = float(number["mean"])
    return CellFacts(_hover(number, scale), None if math.isnan(mean) else mean / scale)


def _printed(cell: Cell) -> float | None:
    """What the cell shows; None for the dash of a number without a finite value."""
    return None if cell.numeral.mean == NOTHING else float(cell.numeral.mean.replace(",", ""))


def _hover(number: Mapping[Any, Any], scale: float) -> str:
    ends = [None if pd.isna(number[key]) else float(number[key]) / scale for key in ("lo", "hi")]
    said = said_of(ends[0], ends[1], number["n"])
    p_value = number.get("p_value")
    if p_value is not None and not math.isnan(p_value):
        said += f", p = {p_value:.2g} against the best"
    return said
