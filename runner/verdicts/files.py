"""The ledger's files: CSV of all numbers, of all pairs of rows, of the counts by table, and one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pandas as pd

from metrics.inference.prediction import prediction_interval
from runner.files.atomic_files import write_text
from runner.verdicts.ledger import Column, Ledger, Line
from runner.verdicts.order import Outcome
from runner.verdicts.page import page
from runner.verdicts.rule import Verdict


def write_ledger(ledger: Ledger, folder: Path) -> list[Path]:
    """Writes all files into `folder`, which is made where it is not there; where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = summary(ledger)
    texts = {
        "verdicts.csv": _csv(pd.DataFrame(map(_number, ledger.lines))),
        "order.csv": _csv(pd.DataFrame(chain.from_iterable(map(_pairs, _with_readings(ledger.columns))))),
        "summary.csv": _csv(counts),
        "verdicts.md": page(ledger, counts),
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _csv(frame: pd.DataFrame) -> str:
    """Six digits, so that another version of a library changes nothing."""
    return frame.to_csv(index=False, float_format="%.6g")


def summary(ledger: Ledger) -> pd.DataFrame:
    """How many numbers of each table have each verdict, and how many of its columns each order."""
    verdicts: dict[tuple[str, str], Counter[Verdict]] = {}
    orders: dict[tuple[str, str], Counter[Outcome]] = {}
    budgets: Counter[tuple[str, str]] = Counter()
    for line in ledger.lines:
        verdicts.setdefault((line.block.paper, line.block.table), Counter())[line.verdict] += 1
        budgets[line.block.paper, line.block.table] += bool(line.source and line.source.budget)
    for column in ledger.columns:
        orders.setdefault((column.block.paper, column.block.table), Counter())[column.outcome] += 1
    rows = [
        {"paper": paper, "table": table, "numbers": verdicts[paper, table].total()}
        | {one.value: verdicts[paper, table][one] for one in Verdict}
        | {"at the budget": budgets[paper, table]}
        | {"columns": orders[paper, table].total()}
        | {f"order {one.value}": orders[paper, table][one] for one in Outcome if one is not Outcome.tied}
        for paper, table in verdicts
    ]
    frame = pd.DataFrame(rows)
    total = {"paper": "all", "table": ""} | frame.drop(columns=["paper", "table"]).sum().to_dict()
    return pd.concat([frame, pd.DataFrame([total])], ignore_index=True)


def _number(line: Line) -> dict[str, object]:
    """A line of verdicts.csv; numbers are in the published unit."""
    unit, ours, source = line.published.scale, line.ours, line.source
    span = ours.interval if ours is not None else None
    lo, hi = (span and prediction_interval(span)) or (None, None)
    block = line.block
    return {
        "paper": block.paper, "table": block.table, "row": line.row, "column": block.column,
        "metric": block.metric, "unit": unit,
        "published": line.published.mean, "published_sd": line.published.sd,
        "ours": _in(span.mean if span else None, unit), "sd": _in(span.sd if span else None, unit),
        "lo": _in(span.lo if span else None, unit), "hi": _in(span.hi if span else None, unit),
        "n": span.n if span else 0, "prediction_lo": _in(lo, unit), "prediction_hi": _in(hi, unit),
        "matters": line.matters / unit,
        "scale": source.record.scale if source is not None else "",
        "budget": source.budget if source is not None else "",
        "experiment": source.record.experiment if source is not None else "",
        "our_metric": source.place.metric.metric if source is not None else "",
        "verdict": line.verdict.value, "reason": line.reason, "released": line.released,
        "shown": line.shown,
        "differs": "; ".join(f"{kind}: {what}" for kind, what in source.differs.items()) if source else "",
        "other_statistics": "; ".join(line.others),
        "settings": "; ".join(line.settings),
        "command": ours.command if ours is not None else "",
    }  # fmt: skip


def _in(value: float | None, unit: float) -> float | None:
    """`value` in the published unit."""
    return None if value is None else value / unit


def _with_readings(columns: Iterable[Column]) -> Iterator[Column]:
    """Each column, then what it is in other readings of the published settings."""
    for column in columns:
        yield column
        yield from column.readings


def _pairs(column: Column) -> list[dict[str, object]]:
    """The lines of order.csv of one column: published differences as printed, ours in our unit."""
    block = column.block
    place = {"paper": block.paper, "table": block.table, "column": block.column, "metric": block.metric}
    return [
        place
        | {"lower": pair.rows[0], "higher": pair.rows[1], "published_difference": pair.published}
        | {
            "our_difference": pair.ours,
            "test": pair.test,
            "holm_p_value": pair.p_value,
            "detectable": pair.detectable,
        }
        | {"outcome": pair.outcome.value, "source": pair.source, "records": " and ".join(pair.folders)}
        | {"reading": column.reading}
        for pair in column.pairs
    ]
