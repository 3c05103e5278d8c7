"""What a record has that the table which is to take its place lacks: rows, columns, seeds or a protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path

from runner.config.experiments.changing_overrides import changing_overrides
from runner.execution.errors import UserError
from runner.execution.override_values import key_of
from runner.files.atomic_files import read_json
from runner.report.page.kept_overrides import SCALE, besides_scale, choosing, differing
from runner.report.recorded.seed_values import SEEDS, read_labelled, read_seed_values
from runner.report.runs.stored_results import Results

TABLE = "table.csv"

NUMBERS = ("scale.", "dtype", "streams", "tuning.", "model")
"""Keys beside those of `changing_overrides` that change numbers; device and compiling only round."""

SEEDS_OF_SCALE = "scale.seeds"
"""It says how many seeds there are, which `check_nothing_lost` compares."""

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


def check_same_protocol(experiment: str, folder: Path, scale: str, overrides: Sequence[str]) -> None:
    """Refuses the record of `overrides` where the one in `folder` is of runs that other overrides changed.

    Those that only choose among the runs of the experiment are for `check_nothing_lost`.

    Raises:
        UserError: naming the first override that differs.
    """
    held = read_json(folder / "manifest.json") or {}
    if not (folder / TABLE).exists() or "overrides" not in held:
        return
    at = [line for line in choosing(overrides) if line.startswith(SCALE)]
    searched = [line for line in overrides if line.startswith("hydra.searchpath=")]
    then, now = (
        _changing(experiment, [*searched, *at], lines)
        for lines in (held["overrides"], besides_scale(overrides))
    )
    for what in differing(then, now):
        raise UserError(
            f"The record {folder} is of other runs, {what}: scale.name={scale}-PART records this table "
            f"beside it; to replace the record, remove its {TABLE}."
        )


def _changing(experiment: str, where: Sequence[str], overrides: Sequence[str]) -> list[str]:
    """Those of `overrides` that change the numbers of runs, and do more than choose among them."""
    others = [
        line for line in overrides if key_of(line).startswith(NUMBERS) and key_of(line) != SEEDS_OF_SCALE
    ]
    try:
        return [*others, *changing_overrides(experiment, [*where, *overrides])]
    except UserError:  # a row that a record names may have another label today
        return list(overrides)


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
