"""What the index knows of a run: enough for every page but its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.catalogue.metric_paths import own_metrics
from runner.config.run_settings import Settings
from runner.execution.storage_errors import StorageError
from runner.files.atomic_files import read_json
from runner.loggers.run_names import run_name
from runner.models.computed_settings import settings_computed
from runner.store.final_values import final_values
from runner.store.left_out import left_out_runs
from runner.store.run_folder import COSTS, UNREADABLE, RunFolder

LOST = "the configuration cannot be read"


@dataclass(frozen=True)
class RunEntry:
    """One run on disk.

    Attributes:
        run_id: its identity, the name of its folder.
        stamp: changes when a file of the run does.
        status: see `runner.store.run_folder.RunFolder.standing`.
        name: what it is called.
        experiment, scale: of the command that started it; the first is empty for a grid of one's own.
        seed: its seed; None where its configuration is lost.
        settings: its settings by dotted key.
        changed: names of the settings that are not the default.
        metrics: what it measured; empty unless it is done.
        costs: steps, evaluations and seconds; empty unless it is done.
        own_metrics: the paths of the classes of the user's own metrics, by the names of the metrics.
        about: commit, device, command and times of its manifest, its logger's tags, why it has no numbers.
    """

    run_id: str
    stamp: str
    status: str
    name: str
    experiment: str
    scale: str
    seed: int | None
    settings: Settings
    changed: list[str]
    metrics: dict[str, float]
    costs: dict[str, float]
    own_metrics: dict[str, str]
    about: dict[str, Any]

    @property
    def done(self) -> bool:
        """Whether its numbers can be shown."""
        return self.status == "done"


def stamp_of(folder: Path) -> str:
    """Names, sizes and times of the files in a run's folder, without those of its lock."""
    with os.scandir(folder) as found:
        files = [(each.name, each.stat()) for each in found if not each.name.startswith("lock")]
    return " ".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in sorted(files))


def run_entry_of(folder: RunFolder, stamp: str) -> RunEntry:
    """What is known of the run in `folder`; every file of a finished run is checked."""
    config, manifest = None, {}
    status, summary = folder.standing()
    try:
        config, manifest = folder.config(), folder.manifest() or {}
    except StorageError:
        status, summary = UNREADABLE, None
    settings = settings_computed(config or {}, manifest)
    known = (summary or {}).get("settings")
    name = run_name(config, known) if config is not None else None
    about = {key: manifest.get(key) for key in ("command", "started", "finished", "host", "threads")}
    about |= {"git": manifest.get("git"), "device": (manifest.get("device") or {}).get("name")}
    if tags := ((config or {}).get("logger") or {}).get("tags"):
        about["tags"] = tags if isinstance(tags, str) else ", ".join(map(str, tags))
    if (why := _why(folder, status, config)) is not None:
        about["why"] = why
    if summary is not None:
        about |= {key: summary.get(key) for key in ("exact", "notes", "tuning", "batch", "model", "rungs")}
    return RunEntry(
        run_id=folder.run_id,
        stamp=stamp,
        status=status,
        name=folder.run_id if name is None else name.text,
        experiment=str((config or {}).get("experiment") or ""),
        scale=str(settings.get("scale") or ""),
        seed=None if config is None else int(config["seed"]),
        settings=settings,
        changed=[] if name is None else list(name.settings),
        metrics={} if summary is None else final_values(folder, summary),
        costs={} if summary is None else {key: summary[key] for key in COSTS if key in summary},
        own_metrics=own_metrics((config or {}).get("metric")),
        about=about,
    )


def _why(folder: RunFolder, status: str, config: Mapping[str, Any] | None) -> str | None:
    """One sentence on a run that has no numbers to show; None where there is nothing to say."""
    if status == "damaged":
        return f"Not as it was written: {', '.join(folder.checked()[1])}."
    if status == "unreadable":
        return left_out_runs([folder]) or "It could not be read a moment ago."
    if status == "failed":
        failure = read_json(folder.path / "failure.json") or {}
        said = [str(failure[key]) for key in ("error", "message") if failure.get(key)]
        return ": ".join(said) or "It failed."
    return f"{LOST.capitalize()}." if config is None else None
