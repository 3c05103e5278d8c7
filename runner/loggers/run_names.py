"""What a run is called outside the disk: as its table names it, or by the settings that are its own."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import conf
from runner.config.experiments.experiment_file import experiment_content
from runner.config.overrides import Names
from runner.config.run_settings import (
    CLASS,
    CODE,
    CONTENT,
    Settings,
    as_named,
    changed_settings,
    flat_settings,
)
from runner.config.sources.edited_files import until_edited
from runner.execution.errors import UserError
from runner.files.plain_yaml import plain_yaml

LONGEST = 120
"""Letters of a name; W&B refuses names of more than 128."""

COMPOSING = threading.Lock()
"""Many runs are given to a logger at once, and Hydra composes one configuration at a time."""

UNNAMED = tuple(f".{key}" for key in (CODE, CLASS, CONTENT))
"""Ends of settings that no name has: digests, and paths, which are longer than a name can be."""

IN_PLACE = ("sampler", "target", "scale")
"""Groups whose settings stand in front, or in a tag."""


@dataclass(frozen=True)
class RunName:
    """The names of a run.

    Attributes:
        text: ``DMALA, step 100 · MoG, c = 8 · seed 3``.
        row: label of its row in the experiment's table; None outside one.
        column: label of its column; None outside an experiment.
        papers: papers whose numbers stand in the table, as ``conf/published`` calls them.
        settings: its settings that differ from the defaults.
    """

    text: str
    row: str | None
    column: str | None
    papers: tuple[str, ...]
    settings: Settings


def run_name(
    config: Mapping[str, Any], settings: Settings | None = None, searched: Sequence[str] = ()
) -> RunName:
    """The names of the run with the plain configuration `config`.

    Args:
        settings: those that differ from the defaults; found out by default.
        searched: the overrides of Hydra that say where else experiments are.
    """
    own = changed_settings(config) if settings is None else settings
    block = _experiment(str(config.get("experiment") or ""), tuple(searched))
    table, every = block.get("table") or {}, flat_settings(config)
    row = _row((block.get("sweep") or {}).get("rows") or [], every)
    column = _column(table.get("columns") or [], every)
    versions = (table.get("published") or {}).get("versions") or {}
    papers = dict.fromkeys(str(version["paper"]) for version in versions.values())
    named = {key: value for key, value in own.items() if not key.endswith(UNNAMED)}
    parts = [row or _described("sampler", every, named), column or _described("target", every, named)]
    seed = f" · seed {config.get('seed')}"
    text = " · ".join(filter(None, parts))[: LONGEST - len(seed)]
    if row is None or column is None:
        others = [f"{k} {_short(v)}" for k, v in named.items() if k.split(".")[0] not in IN_PLACE]
        for place, other in enumerate(others):
            longer = f"{text}{', ' if place else ' · '}{other}"
            if len(longer) > LONGEST - len(seed):
                break
            text = longer
    return RunName(text + seed, row, column, tuple(papers), own)


def _row(rows: Sequence[Mapping[str, Any]], settings: Settings) -> str | None:
    """The label of the row that `settings` fit, of several the one that says most; None for none."""
    best: tuple[int, str | None] = (0, None)
    for row in rows:
        wanted = {key: value for key, value in row.items() if key != "row"}
        if len(wanted) > best[0] and all(_fits(settings, *item) for item in wanted.items()):
            best = (len(wanted), str(row["row"]))
    return best[1]


def _column(columns: Sequence[Mapping[str, Any]], settings: Settings) -> str | None:
    """The label of the one column that `settings` fit; None for none."""
    fits = [
        str(column["label"])
        for column in columns
        if all(_fits(settings, *item) for item in (column.get("where") or {}).items())
    ]
    return fits[0] if len(fits) == 1 else None


def _fits(settings: Settings, key: str, wanted: Any) -> bool:
    """Whether the setting `key` is `wanted`, or one of them; a list is a sweep over its values."""
    if key not in settings:
        return False
    value = settings[key]
    named = [as_named(each, key, settings) for each in _each(wanted)]
    return any(each == value or str(each) == str(value) for each in named) or str(wanted) == value


def _each(wanted: Any) -> list[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def _described(group: str, every: Settings, own: Settings) -> str:
    """``mog, components 16``: the option of `group` and its keys that differ from the defaults."""
    changed = [f"{key.split('.', 1)[1]} {_short(v)}" for key, v in own.items() if key.startswith(f"{group}.")]
    return ", ".join([str(every.get(group) or ""), *changed]).strip(", ")


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@until_edited
def _experiment(name: str, searched: tuple[str, ...]) -> Mapping[str, Any]:
    """The experiment's file; empty where there is none of that name, neither among ours nor in `searched`."""
    path = Path(conf.__path__[0]) / "experiment" / f"{name}.yaml"
    if not name or not (path.is_file() or searched):
        return {}
    if path.is_file():
        content = plain_yaml(path.read_bytes())
        return content if isinstance(content, Mapping) else {}
    with COMPOSING, suppress(UserError):
        return experiment_content(name, Names(searched))
    return {}
