"""Every run under an output root with its settings, whatever command made it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.config.run_settings import Settings, unlisted_settings
from runner.execution.storage_errors import StorageError
from runner.models.computed_settings import settings_computed
from runner.store.final_values import final_values
from runner.store.run_folder import COSTS, LEFT_OUT, RunFolder
from runner.store.run_store import Store

if TYPE_CHECKING:
    import pandas as pd


IDENTITY = ("run_id", "status", "experiment", "seed")
"""Columns of a frame of runs that say which run a row is."""


@dataclass(frozen=True)
class StoredRun:
    """A run on disk.

    Attributes:
        folder: its folder.
        status: one of `runner.store.run_folder.STATUSES` but ``missing``.
        config: its configuration in plain values; empty where that cannot be read.
        summary: what it measured; None unless it is done.
        needed_by: an experiment that was asked for and needs it, whatever command computed it.
    """

    folder: RunFolder
    status: str
    config: Mapping[str, Any]
    summary: Mapping[str, Any] | None
    needed_by: str | None = None

    @property
    def seed(self) -> int:
        """Its seed."""
        return int(self.config["seed"])

    @cached_property
    def settings(self) -> Settings:
        """Its settings by dotted key, with the device that it was computed on."""
        try:
            manifest = self.folder.manifest()
        except StorageError:
            manifest = None
        return settings_computed(self.config, manifest)

    @cached_property
    def described(self) -> Settings:
        """What a condition may name: the settings, and what else tells runs apart."""
        own = {"experiment": self.needed_by or self.config.get("experiment"), "seed": self.config.get("seed")}
        spent = {key: value for key, value in (self.summary or {}).items() if key == "evaluations"}
        known = self.settings | unlisted_settings(self.settings) | spent
        return {**known, **own, "status": self.status, "run_id": self.folder.run_id}


def stored_run(folder: RunFolder) -> StoredRun | None:
    """The run in `folder`; None where it was never started, or its configuration is lost or refused."""
    try:
        config = folder.config()
    except StorageError:
        config = None
    if config is None:
        return None
    status, summary = folder.standing()
    return StoredRun(folder, status, config, summary)


def stored_runs(root: str | Path) -> list[StoredRun]:
    """All runs under the output root `root`, by id; those whose configuration is lost are left out."""
    store = Store(root)
    return runs_in(store.run(path.name) for path in sorted(Path(root).glob("runs/*")))


def lost_runs(root: str | Path, stored: Iterable[StoredRun]) -> list[RunFolder]:
    """The runs under `root` that `stored_runs` left out, done or not: their settings are unknown."""
    store, known = Store(root), {run.folder.run_id for run in stored}
    names = (path.name for path in sorted(Path(root).glob("runs/*")))
    folders = (store.run(name) for name in names if name not in known)
    return [folder for folder in folders if folder.status() in LEFT_OUT or _says_nothing(folder)]


def _says_nothing(folder: RunFolder) -> bool:
    """Whether the configuration in `folder` is lost, or refused."""
    try:
        return folder.config_is_lost()
    except StorageError:
        return True


def runs_in(folders: Iterable[RunFolder]) -> list[StoredRun]:
    """The runs in `folders` that were ever started, whatever became of them."""
    runs = (stored_run(folder) for folder in folders)
    return [run for run in runs if run is not None]


def done_runs(folders: Iterable[RunFolder]) -> list[StoredRun]:
    """Those of the runs in `folders` that are done."""
    return [run for run in runs_in(folders) if run.status == "done"]


def runs_frame(runs: Iterable[StoredRun]) -> pd.DataFrame:
    """`runs` as the frame of `runner.load_runs`, which has the columns `IDENTITY` and `COSTS` in any case."""
    import pandas as pd

    rows = []
    for run in runs:
        row = {key: run.described[key] for key in IDENTITY} | run.settings
        if run.summary is not None:
            tuned = (run.summary.get("tuning") or {}).get("hyperparameters") or {}
            row |= {f"tuned.{key}": value for key, value in tuned.items()}
            costs = {key: run.summary.get(key) for key in COSTS}
            measured = {**final_values(run.folder, run.summary), **costs}
            # A value of a metric must not hide a setting, as one named `seed` would.
            row |= {key: value for key, value in measured.items() if key not in row}
        rows.append(row)
    frame = pd.DataFrame(rows)
    return frame.reindex(columns=[*frame, *(name for name in (*IDENTITY, *COSTS) if name not in frame)])
