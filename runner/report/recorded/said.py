"""What the page of a table says of its runs and no other file keeps, for when the runs are gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

from runner.report.analysis.growth import sentences_along_runs
from runner.report.budget import budget_sentence
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape

SAID = "said"
"""Its key in the manifest of a record."""


@dataclass(frozen=True)
class Said:
    """What the runs of a table said.

    Attributes:
        budget: what they were given and have taken, in a few sentences.
        seeds: the most seeds of a row in a column; 0 where nothing is random.
        threads: numbers of CPU threads they had.
        notes: their notes on their data, by column.
        closed_form: the numbers that are expectations in closed form, each as `place_of` names it.
        growths: sentences on growths along the runs, by `runner.report.analysis.growth.name_of`.
        sources: how many of them each version of the source code has computed.
        evaluations: means of the target's evaluations per chain, by column and row.
    """

    budget: str
    seeds: int
    threads: list[int]
    notes: Mapping[str, list[str]]
    closed_form: list[str]
    growths: Mapping[str, str]
    sources: Mapping[str, int] = field(default_factory=dict)
    evaluations: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def place_of(row: str, column: str, metric: str) -> str:
    """A number of the table in words, as in readings: ``DMALA | MNIST | kl``."""
    return f"{row} | {column} | {metric}"


def said_by(shape: TableShape, results: Results) -> dict[str, Any]:
    """What `results` say, as the manifest keeps it."""
    columns = [column.label for column in shape.columns]
    rows, metrics = [row.row for row in shape.rows], [metric.metric for metric in shape.metrics]
    places = list(product(rows, columns, metrics))
    return asdict(
        Said(
            budget=budget_sentence(results),
            seeds=results.seeds,
            threads=results.threads,
            notes={column: notes for column in columns if (notes := results.notes(column))},
            closed_form=[place_of(*place) for place in places if results.known(*place)],
            growths=sentences_along_runs(shape, results),
            sources=results.sources,
            evaluations=evaluations_of(shape, results),
        )
    )


def evaluations_of(shape: TableShape, results: Results) -> dict[str, dict[str, float]]:
    """Means of the target's evaluations per chain, by column and row, where a run tells."""
    rows = [row.row for row in shape.rows]
    return {
        column.label: {
            row: cost for row in rows if (cost := results.evaluations(row, column.label)) is not None
        }
        for column in shape.columns
    }


def kept(manifest: Mapping[str, Any]) -> Said | None:
    """What the manifest of a record keeps; None of one that was recorded before it kept this."""
    return Said(**manifest[SAID]) if SAID in manifest else None
