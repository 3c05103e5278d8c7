"""What is wrong in the `sweep:` block of an experiment; `plans` says what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.config.choices import LABEL
from runner.config.compose import OF_A_COMMAND
from runner.config.experiments.experiment_file import check_scales
from runner.config.experiments.override_meaning import written
from runner.config.form import MOST_SEEDS
from runner.config.overrides import Names
from runner.execution.errors import UserError, listed

KEYS = ("grid", "rows", "overrides", "scales", "seeds", "one_job_per_seed", *OF_A_COMMAND)

OF_A_ROW = (LABEL, "seeds", "scales")
"""Keys of a row that are no overrides."""

QUOTED_TEXT = "a text (in quotes, if it is No, Off, Yes or On)"
"""What is asked for where YAML has read a text as a truth value."""

RENAMED = {"seeds_apart": "one_job_per_seed"}
"""Former keys of a sweep."""


def check_block(experiment: str, composed: Mapping[str, Any], names: Names) -> None:
    """Refuses a key that a sweep does not have, a scale that there is not, and values that make no jobs.

    Args:
        composed: what the experiment composes to; its `sweep` has rows.

    Raises:
        UserError: naming the key.
    """
    block = composed["sweep"]
    for key in block:
        if key in RENAMED:
            raise UserError(f"sweep.{key} of the experiment {experiment} is now called {RENAMED[key]}.")
        if key not in KEYS:
            raise UserError(f"The experiment {experiment} has sweep.{key}; a sweep has {listed(KEYS)}.")
    for key in ("grid", "overrides"):
        _check_overrides(experiment, f"sweep.{key}", block.get(key) or {})
    _check_one_value(experiment, block.get("overrides") or {})
    scales, seeds = block.get("scales") or {}, block.get("seeds") or {}
    _check_scales(experiment, "sweep.scales", scales)
    rows = block["rows"]
    by_scale = {"sweep.scales": scales, "sweep.seeds": seeds}
    for place, row in enumerate(rows if isinstance(rows, list) else [rows]):
        key = f"sweep.rows.{place}"
        _check_group(experiment, key, row)
        _check_overrides(experiment, key, {name: row[name] for name in row if name not in OF_A_ROW})
        if not isinstance(row.get(LABEL), str | int | float) or not str(row[LABEL]).strip():
            raise UserError(f"{key} of the experiment {experiment} needs a key row, its label.")
        if isinstance(row[LABEL], bool):
            raise UserError(
                f"{key}.row of the experiment {experiment} must be {QUOTED_TEXT}, {row[LABEL]} was given."
            )
        _check_seeds(experiment, f"{key}.seeds", row.get("seeds", {}))
        _check_scales(experiment, f"{key}.scales", row.get("scales", {}))
        by_scale |= {f"{key}.{part}": row.get(part, {}) for part in ("seeds", "scales")}
    _check_seeds(experiment, "sweep.seeds", seeds)
    for key, own in by_scale.items():
        check_scales(f"{key} of the experiment {experiment}", own, composed, names)


def overrides_of(row: Mapping[str, Any], scale: str) -> dict[str, Any]:
    """The overrides of a `row` at a scale: those of the scale replace those of every scale."""
    own = {key: value for key, value in row.items() if key not in OF_A_ROW}
    return {**own, **((row.get("scales") or {}).get(scale) or {})}


def _check_scales(experiment: str, key: str, by_scale: Any) -> None:
    _check_group(experiment, key, by_scale)
    for scale, own in by_scale.items():
        place = f"{key}.{scale}"
        _check_overrides(experiment, place, own or {})
        for name in OF_A_ROW:
            if name in (own or {}):
                here = f"{key.removesuffix('scales')}seeds.{scale}" if name == "seeds" else "the row alone"
                raise UserError(f"{place} of the experiment {experiment} has {name}, which stands in {here}.")


def _check_seeds(experiment: str, key: str, by_scale: Any) -> None:
    _check_group(experiment, key, by_scale)
    for scale, seeds in by_scale.items():
        if not isinstance(seeds, int) or isinstance(seeds, bool) or not 1 <= seeds <= MOST_SEEDS:
            raise UserError(
                f"{key}.{scale} of the experiment {experiment} must be a whole number from 1 to "
                f"{MOST_SEEDS:,}, {seeds!r} was given."
            )


def _check_overrides(experiment: str, key: str, found: Any) -> None:
    """A group of overrides, none of which may be one of no values: there would be no job."""
    _check_group(experiment, key, found)
    if "scale" in found:
        raise UserError(f"{key} of the experiment {experiment} has scale, which a command chooses.")
    for name, value in found.items():
        if isinstance(value, list) and not value:
            raise UserError(
                f"{key}.{name} of the experiment {experiment} must be a value or a list of values, [] was "
                "given."
            )


def _check_one_value(experiment: str, overrides: Mapping[str, Any]) -> None:
    """Refuses several values of a key of all jobs: they would make jobs that are in no column of the grid."""
    for name, value in overrides.items():
        if isinstance(value, list) and len(value) > 1:
            raise UserError(
                f"sweep.overrides.{name} of the experiment {experiment} must be one value, {value!r} was "
                f'given: quote a list that is one value, {name}: "{written(value)}", and put values that '
                "make a job each into sweep.grid or a row."
            )


def _check_group(experiment: str, key: str, found: Any) -> None:
    if not isinstance(found, Mapping):
        raise UserError(f"{key} of the experiment {experiment} must be a group of keys, {found!r} was given.")
