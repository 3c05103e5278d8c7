"""Where a run stands in the table of an experiment: the labels of its row and its column."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from runner.config.experiments.override_meaning import read, written
from runner.config.experiments.sweep_block import overrides_of
from runner.config.run_settings import METRIC, Settings, as_named, as_setting, unlisted_settings, untempered
from runner.config.tempering import GROUP, RUNGS
from runner.execution.errors import UserError

UNKNOWN = object()
UNTEMPERED = "none"

BLOCKS = ("sweep", "table", "defaults")
"""Keys of an experiment's file that are no part of the configuration of a run."""


class TablePlace:
    """The place of one run.

    Attributes:
        row: the label of the row that its settings fit, of several the one that says most; None for none.
        column: the label of the one column that they fit; None for none.
    """

    def __init__(
        self,
        experiment: Mapping[str, Any],
        config: Mapping[str, Any],
        settings: Settings,
        searched: Sequence[str] = (),
    ) -> None:
        """The place in the table of `experiment`, which is what its file has.

        Args:
            config: the run's plain configuration.
            settings: all of its settings.
            searched: the overrides of Hydra that say where else configurations are.
        """
        self._settings = {GROUP: UNTEMPERED, **unlisted_settings(settings), **settings}
        self._searched = tuple(searched)
        own = {key: node for key, node in experiment.items() if key not in BLOCKS}
        self._config: dict[Any, Any] = {**own, **config}
        self.row = self._row((experiment.get("sweep") or {}).get("rows") or [])
        self.column = self._column((experiment.get("table") or {}).get("columns") or [])

    def _row(self, rows: Sequence[Mapping[str, Any]]) -> str | None:
        """By the overrides of the run's scale, or else of any: a run may have its own name for it."""
        own = str(self._settings.get("scale"))
        return self._fitting((row, own) for row in rows) or self._fitting(
            (row, scale) for row in rows for scale in row.get("scales") or []
        )

    def _fitting(self, rows: Iterable[tuple[Mapping[str, Any], str]]) -> str | None:
        best: tuple[int, str | None] = (0, None)
        for row, scale in rows:
            wanted = {key: value for key, value in overrides_of(row, scale).items() if key != METRIC}
            said = len(wanted) - (wanted.get(GROUP) == UNTEMPERED)
            if said > best[0] and (
                self._fits(self._settings, wanted)
                or (GROUP in wanted and self._fits(self._untempered, wanted))
            ):
                best = (said, str(row["row"]))
        return best[1]

    def _column(self, columns: Sequence[Mapping[str, Any]]) -> str | None:
        found = [column for column in columns if self._fits(self._settings, column.get("where") or {})]
        return str(found[0]["label"]) if len(found) == 1 else None

    @functools.cached_property
    def _context(self) -> DictConfig:
        """The run's configuration and what else its experiment has, in which a row's values are resolved."""
        return DictConfig(self._config)

    @functools.cached_property
    def _untempered(self) -> Settings:
        """The settings as a row with a `tempering` writes them, which `folded` puts into the sampler."""
        lines = untempered(str(self._settings.get("sampler")), self._searched)
        names = dict(line.split("=", 1) for line in lines)
        return {_unfolded(key): value for key, value in self._settings.items()} | names

    def _fits(self, settings: Settings, wanted: Mapping[str, Any]) -> bool:
        return all(self._is(settings, key, value) for key, value in wanted.items())

    def _is(self, settings: Settings, key: str, wanted: Any) -> bool:
        """Whether the setting `key` is `wanted`, or one of them; a list is a sweep over its values."""
        if key not in settings:
            return False
        value = settings[key]
        allowed = [self._setting(key, one) for one in (wanted if isinstance(wanted, list) else [wanted])]
        return any(one == value or str(one) == str(value) for one in allowed)

    def _setting(self, key: str, wanted: Any) -> Any:
        """What an override of `key` by `wanted` makes of the setting; `UNKNOWN` where it cannot be read."""
        try:
            value = _value(f"{key}={written(wanted)}")
            if "${" in str(value):
                self._context[""] = value
                found = self._context[""]
                value = OmegaConf.to_object(found) if OmegaConf.is_config(found) else found
        except (UserError, OmegaConfBaseException, ValueError):
            return UNKNOWN
        return as_named(as_setting(value), key, self._settings)


@functools.lru_cache(maxsize=4096)
def _value(line: str) -> Any:
    return read(line)[1]


def _unfolded(key: str) -> str:
    """The key of a setting of a tempered sampler as it stands beside ``tempering=...``."""
    group, _, name = key.partition(".")
    if group != "sampler" or not name or name in RUNGS:
        return key
    inside = name.partition(".")
    return f"sampler.{inside[2]}" if inside[0] == "kernel" else f"{GROUP}.{name}"
