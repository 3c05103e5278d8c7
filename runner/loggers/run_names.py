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
    changed_settings,
    flat_settings,
)
from runner.config.sources.edited_files import until_edited
from runner.execution.errors import UserError
from runner.files.plain_yaml import plain_yaml
from runner.loggers.table_place import TablePlace

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
    place = TablePlace(block, config, every, searched)
    row, column = place.row, place.column
    versions = (table.get("published") or {}).get("versions") or {}
    papers = dict.fromkeys(str(version["paper"]) for version in versions.values())
    named = {key: value for key, value in own.items() if not key.endswith(UNNAMED)}
    parts = [row or _described("sampler", every, named), column or _described("target", every, named)]
    seed = f" · seed {config.get('seed')}"
    text = " · ".join(filter(None, parts))[: LONGEST - len(seed)]
    if row is None or column is None:
        others = [f"{k} {_short(v)}" for k, v in named.items() if k.split(".")[0] not in IN_PLACE]
        for number, other in enumerate(others):
            longer = f"{text}{', ' if number else ' · '}{other}"
            if len(longer) > LONGEST - len(seed):
                break
            text = longer
    return RunName(text + seed, row, column, tuple(papers), own)


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
        content = content if isinstance(content, Mapping) else {}
        if "defaults" not in content:
            return content
    with COMPOSING, suppress(UserError):
        return experiment_content(name, Names(searched))
    return {}
