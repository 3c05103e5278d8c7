"""What a record has that the table which is to take its place lacks, such as the rows of the whole table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from runner.execution.errors import UserError
from runner.report.recorded.seed_values import SEEDS, read_labelled, read_seed_values
from runner.report.runs.stored_results import Results

TABLE = "table.csv"

Places = Mapping[tuple[str, str], Set[int]]
"""The seeds that were measured, by row and column."""


def check_nothing_lost(folder: Path, scale: str, results: Results) -> None:
    """Refuses to record `results` in `folder` where the record there has a row, a column or a seed more.

    Args:
        scale: what the command calls its scale.

    Raises:
        UserError: naming the first such thing; or if that record cannot be read.
    """
    if not (folder / TABLE).exists():
        return
    try:
        lines = read_labelled(folder / TABLE).to_dict("records")
        numbers = {(str(line["row"]), str(line["cell"])): int(line["n"]) for line in lines if line["n"]}
        held: dict[tuple[str, str], set[int]] = {place: set() for place in numbers}
        for (row, column, _), values in read_seed_values(folder / SEEDS).items():
            held.setdefault((row, column), set()).update(values)
    except (ValueError, KeyError) as error:
        raise UserError(
            f"The record {folder} cannot be read, so that nobody can tell what would be lost; to replace it, "
            f"remove its {TABLE}."
        ) from error
    for what in _more(held, numbers, results.measured_seeds()):
        adds = "--extend adds new seeds to it; " if what.startswith("seed") else ""
        raise UserError(
            f"The record {folder} has {what}, which this table lacks: {adds}scale.name={scale}-PART records "
            f"a part of a table beside it; to replace the record, remove its {TABLE}."
        )


def _more(held: Places, numbers: Mapping[tuple[str, str], int], new: Places) -> Iterator[str]:
    """What `held` has and `new` has not: whole rows first, then whole columns, then seeds.

    Where a record does not keep its seeds, as those of earlier versions, their `numbers` alone count.
    """
    for position, name in enumerate(("row", "column")):
        found = {place[position] for place in new}
        yield from (f"the {name} '{place[position]}'" for place in held if place[position] not in found)
    for (row, column), seeds in held.items():
        own = new.get((row, column), frozenset())
        missing, where = sorted(seeds - own), f"of '{row}' in '{column}'"
        if missing:
            yield f"seed{'s' * (len(missing) > 1)} {', '.join(map(str, missing))} {where}"
        elif not seeds and len(own) < (number := numbers[row, column]):
            yield f"{number} seeds {where}, and not {len(own)}"
