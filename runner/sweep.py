"""From a command to its jobs: products of overrides, the grid and rows of an experiment, seeds in batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from runner.compose import compose_by_groups
from runner.devices import device_type
from runner.errors import UserError, listed
from runner.identity import run_ids
from runner.overrides import EXPERIMENT, Names, is_hydra, parse, with_own_classes
from runner.seeds import LARGEST_BATCH, seeds_of

Choices = dict[str, list[str]]
"""Key (with its ``+`` or ``~``) to the overrides that it may be."""


@dataclass(frozen=True)
class Job:
    """The runs of one configuration, one for each seed.

    Attributes:
        overrides: what makes the configuration, those of Hydra itself not included.
        row: label of the experiment's row; empty outside an experiment.
        cell: the grid point, key to value.
        config: the composed configuration.
        run_ids: the id of each seed's run.
    """

    overrides: tuple[str, ...]
    row: str
    cell: dict[str, Any]
    config: DictConfig
    run_ids: dict[int, str]


@dataclass(frozen=True)
class Plan:
    """A job before it is composed."""

    overrides: list[str]
    row: str = ""
    cell: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """What a command asks for.

    Attributes:
        hydra: overrides of Hydra itself.
        names: the names that there are.
        plans: the jobs, their names checked.
    """

    hydra: list[str]
    names: Names
    plans: list[Plan]


def experiment_jobs(name: str, overrides: Sequence[str]) -> list[Job]:
    """All jobs of an experiment, done or not.

    Raises:
        UserError: for a name, a key or a value that is refused.
    """
    return jobs_of(requested([f"+{EXPERIMENT}={name}", *overrides], multirun=True))


def requested(lines: Sequence[str], *, multirun: bool) -> Request:
    """The plans behind a command's overrides; every name in them exists. Does not import torch.

    Raises:
        UserError: for a name that does not exist, or a sweep without -m.
    """
    given = parse(lines)
    hydra = [override.input_line or "" for override in given if is_hydra(override)]
    names = Names(hydra)
    for override in given:
        if is_hydra(override):
            names.check_hydra(override)
        elif override.is_sweep_override() and not multirun:
            raise _needs_multirun(override)
    choices = choices_of([override for override in given if not is_hydra(override)])
    experiment = f"+{EXPERIMENT}"
    if multirun and len(choices.get(experiment, [])) > 1:
        raise UserError(f"One experiment at a time, '{', '.join(choices[experiment])}' was given.")
    if multirun and experiment in choices:
        names.check(choices[experiment])
        plans = experiment_plans(choices, names)
    else:
        plans = [Plan(list(lines)) for lines in product(choices)]
    checked = []
    for plan in plans:
        names.check(plan.overrides)
        checked.append(Plan(with_own_classes(plan.overrides, names), plan.row, plan.cell))
    return Request(hydra, names, checked)


def jobs_of(request: Request) -> list[Job]:
    """The composed jobs of a request; a job whose runs are all among those of earlier ones is left out.

    In an experiment every job without seeds of its own has those of its scale.

    Raises:
        UserError: for a configuration, a device or seeds that are refused.
    """
    jobs: list[Job] = []
    known: set[tuple[str, str]] = set()
    for plan in request.plans:
        config = compose_by_groups([*request.hydra, *plan.overrides], request.names.groups)
        overrides = plan.overrides
        if plan.row and not any(override.startswith("seed=") for override in overrides):
            config.seed = list(range(int(config.scale.seeds)))
            overrides = [*overrides, f"seed=[{','.join(map(str, config.seed))}]"]
        ids = run_ids(config, device_type(config.device), seeds_of(config))
        new = {(plan.row, run_id) for run_id in ids.values()} - known
        known |= new
        if new:
            jobs.append(Job(tuple(overrides), plan.row, plan.cell, config, ids))
    return jobs


def choices_of(overrides: Sequence[Override]) -> Choices:
    """What each key may be; of a key that is given twice, the last.

    Several values of `seed` are batches of seeds: they are computed together.

    Raises:
        UserError: for a sweep over an interval, which has no end of values.
    """
    choices: Choices = {}
    for override in overrides:
        key = override.get_key_element()
        if not override.is_sweep_override():
            choices[key] = [override.input_line or ""]
            continue
        if not override.is_discrete_sweep():
            raise UserError(f"A sweep needs a list of values or a range, '{override.input_line}' was given.")
        values = list(override.sweep_string_iterator())
        if not values:
            raise UserError(f"'{override.input_line}' is a sweep over nothing.")
        if key == "seed" and not any(value.startswith("[") for value in values):
            batches = [values[at : at + LARGEST_BATCH] for at in range(0, len(values), LARGEST_BATCH)]
            values = [f"[{','.join(batch)}]" if len(batch) > 1 else batch[0] for batch in batches]
        choices[key] = [f"{key}={value}" for value in values]
    return choices


def product(choices: Choices) -> Iterator[tuple[str, ...]]:
    """Every combination, the last key running fastest."""
    return itertools.product(*choices.values())


def experiment_plans(choices: Choices, names: Names) -> list[Plan]:
    """Grid x rows of the experiment in `choices`, under the other overrides.

    What the user gives of a key of the grid replaces it; of a key of the rows, it chooses among them.

    Raises:
        UserError: if the experiment has no sweep, or no row is left.
    """
    experiment = choices[f"+{EXPERIMENT}"][0]
    name = experiment.split("=", 1)[1]
    block = names.composed(experiment).get("sweep")
    if not isinstance(block, Mapping) or not block.get("rows"):
        raise UserError(f"The experiment {name} has no sweep.rows to run.")
    user = {key: lines for key, lines in choices.items() if key != f"+{EXPERIMENT}"}
    fixed = _as_choices(block.get("overrides") or {})
    grid = {key: user.get(key, lines) for key, lines in _as_choices(block.get("grid") or {}).items()}
    plans: list[Plan] = []
    choosing = {key for row in block["rows"] for key in row} & set(user)
    for row in block["rows"]:
        own = _as_choices({key: value for key, value in row.items() if key != "row"})
        kept = {
            key: [line for line in lines if key not in user or line in user[key]]
            for key, lines in own.items()
        }
        if not all(kept.values()) or not choosing <= set(own):
            continue
        others = {key: lines for key, lines in user.items() if key not in own}
        for lines in product({**fixed, **grid, **others, **kept}):
            cell = {key: value for key, value in map(_split, lines) if key in grid}
            plans.append(Plan([experiment, *lines], str(row["row"]), cell))
    if not plans:
        raise UserError(f"No row of the experiment {name} has the {listed(choosing)} that was given.")
    return plans


def _as_choices(block: Mapping[Any, Any]) -> Choices:
    """A node of an experiment: a list is what the key may be, anything else what it is."""
    return {
        str(key): [f"{key}={_written(item)}" for item in (value if isinstance(value, list) else [value])]
        for key, value in block.items()
    }


def _written(value: Any) -> str:
    """A value of an experiment's YAML as it is written in an override; text stands as it is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(_written, value))}]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_written(item)}" for key, item in value.items()) + "}"
    return repr(value) if isinstance(value, float) else str(value)


def _split(line: str) -> tuple[str, Any]:
    key, value = line.split("=", 1)
    return key, OmegaConf.to_container(OmegaConf.from_dotlist([f"value={value}"]))["value"]  # type: ignore[index, call-overload]


def _needs_multirun(override: Override) -> UserError:
    key, line = override.key_or_group, override.input_line
    together = (
        f"; several metrics at once are metric=[{(line or '').split('=', 1)[1]}]" if key == "metric" else ""
    )
    return UserError(f"'{line}' is a sweep and needs -m{together}.")
