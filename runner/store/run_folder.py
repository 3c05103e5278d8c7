"""One run on disk: its files, its status, and how they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from runner.execution.errors import warn
from runner.execution.storage_errors import StorageError, reading_refused
from runner.files.atomic_files import (
    json_bytes,
    new_folder,
    read_json,
    remove_partial,
    set_aside,
    write_bytes,
    write_json,
)
from runner.files.csv_text import csv_of_records
from runner.files.lock_holders import is_abandoned, is_held
from runner.files.locks import Lock
from runner.files.plain_yaml import plain_yaml
from runner.integrity.file_digest import digest_of
from runner.store.folder_digests import FILES, changed

if TYPE_CHECKING:
    import pandas as pd

UNREADABLE = "unreadable"
"""A run of which a file cannot be read now: it may be done, so that nothing is written into it."""

STATUSES = ("done", "running", "abandoned", "interrupted", "failed", "damaged", UNREADABLE, "missing")
"""What a run can be, in the order in which tables show it; see `RunFolder.standing`."""

LEFT_OUT = ("damaged", UNREADABLE)
"""Statuses of runs that are left out of numbers though they may have some; commands say why."""

COSTS = ("steps", "evaluations", "seconds", "wall_seconds")
"""Entries of a summary that say what the run cost."""


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_id = path.name
        self._written: dict[str, str] = {}

    @cached_property
    def lock(self) -> Lock:
        """The lock that the one process holds that computes this run."""
        return Lock(self.path / "lock")

    @property
    def checkpoint(self) -> Path:
        """The checkpoint of the group of runs whose first this is."""
        return self.path / "checkpoint.pt"

    def status(self) -> str:
        """One of `STATUSES`.

        It changes nothing. A run is abandoned whose process holds the lock and gives no sign of life.
        """
        return self.standing()[0]

    def standing(self) -> tuple[str, dict[str, Any] | None]:
        """The status, and the summary where it is ``done``: reads every file of the run once."""
        try:
            return self._standing()
        except StorageError:
            return UNREADABLE, None

    def _standing(self) -> tuple[str, dict[str, Any] | None]:
        summary, damaged = self.checked()
        if summary is not None:
            return "done", summary
        if is_held(self.path / "lock"):
            return "running", None
        if is_abandoned(self.path / "lock"):
            return "abandoned", None
        if not damaged:  # its process may have ended it since, and then given the lock back
            summary, damaged = self.checked()
            if summary is not None:
                return "done", summary
        if damaged:
            return "damaged", None
        if read_json(self.path / "failure.json") is not None:
            return "failed", None
        return "interrupted" if (self.path / "config.yaml").is_file() else "missing", None

    def is_done(self) -> bool:
        """Whether the run is known to be done: not where it cannot be read now."""
        try:
            return self.checked()[0] is not None
        except StorageError:
            return False

    def summary(self) -> dict[str, Any] | None:
        """What the run measured; None unless it is done and every file is as it was written.

        Raises:
            runner.execution.storage_errors.StorageError: as of `checked`.
        """
        return self.checked()[0]

    def checked(self) -> tuple[dict[str, Any] | None, list[str]]:
        """The summary, or None, and the names of the damaged files: none where there is no summary.

        Raises:
            runner.execution.storage_errors.StorageError: if a file cannot be read now, which is no damage.
        """
        path = self.path / "summary.json"
        summary = read_json(path, digest_needed=True)
        if summary is None:
            return None, [path.name] if path.exists() else []
        files = summary.pop(FILES, None)
        if files is None or summary.get("run_id") != self.run_id:
            damaged = [path.name]
        else:
            damaged = changed(self.path, files)
        return None if damaged else summary, damaged

    def metrics(self) -> pd.DataFrame | None:
        """The long-format rows of the run; None where there are none that can be read."""
        import pandas

        try:
            # Python's own float reads the shortest form back exactly, under every version of pandas.
            return pandas.read_csv(self.path / "metrics.csv", converters={"value": float, "seconds": float})
        except (OSError, ValueError):
            return None

    def config(self) -> Mapping[str, Any] | None:
        """The configuration in plain values; None where there is none, or none as it was written.

        Raises:
            runner.execution.storage_errors.StorageError: if it cannot be read now.
        """
        path = self.path / "config.yaml"
        try:
            content = plain_yaml(path.read_bytes())
        except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
            if (refused := reading_refused(error, path)) is not None:
                raise refused from error
            return None
        return content if isinstance(content, Mapping) and isinstance(content.get("seed"), int) else None

    def config_names(self, word: str) -> bool:
        """Whether `word` is somewhere in the configuration's file, which need not be parsed for that."""
        try:
            return word.encode() in (self.path / "config.yaml").read_bytes()
        except OSError:
            return False

    def config_is_lost(self) -> bool:
        """Whether there is a file of a configuration that says nothing; before the start there is none.

        Raises:
            runner.execution.storage_errors.StorageError: if it cannot be read now.
        """
        return self.config() is None and (self.path / "config.yaml").exists()

    def manifest(self) -> dict[str, Any] | None:
        """Where, when and with what the run was computed."""
        return read_json(self.path / "manifest.json")

    def prepare(self) -> None:
        """Makes the folder; what else has its name is set aside."""
        if self.path.exists() and not self.path.is_dir():
            warn(f"{self.path} should be a folder and is not; it was moved to {set_aside(self.path)}.")
        self.path.mkdir(parents=True, exist_ok=True)
        if (self.path / "lock").is_dir():
            warn(f"{self.path / 'lock'} should be a file; it was moved to {set_aside(self.path / 'lock')}.")

    def set_damaged_aside(self) -> None:
        """Moves the files of a run that is damaged into a folder, with one sentence; the lock must be held.

        The checkpoint stays: it is checked by itself.
        """
        _, damaged = self.checked()
        manifest = self.path / "manifest.json"
        if damaged:
            aside = new_folder(self.path, "damaged")
            for path in (self.path / "summary.json", *sorted(self.path.iterdir())):
                if path.exists() and not path.name.startswith(("lock", self.checkpoint.name, "damaged-")):
                    path.rename(aside / path.name)
            warn(
                f"the run {self.path} is damaged ({', '.join(damaged)}); its files were moved to {aside}, "
                "it is computed again."
            )
        elif manifest.exists() and self.manifest() is None:
            warn(f"{manifest} is damaged; it was moved to {set_aside(manifest)}, and started anew.")

    def start(self, config: str, manifest: Mapping[str, Any]) -> None:
        """Writes what is known of a run that is about to start or to continue; the lock must be held.

        A former failure is removed.
        """
        remove_partial(self.path)
        (self.path / "failure.json").unlink(missing_ok=True)
        self._write_all({"config.yaml": config.encode(), "manifest.json": json_bytes(manifest)})

    def finish(
        self,
        rows: Sequence[Mapping[str, Any]],
        summary: Mapping[str, Any],
        manifest: Mapping[str, Any],
        files: Mapping[str, bytes],
    ) -> None:
        """Writes the results and further `files` by name; the summary comes last and makes the run done.

        It holds a digest of every other file.
        """
        contents = {"metrics.csv": csv_of_records(rows).encode(), **files}
        self._write_all({**contents, "manifest.json": json_bytes(manifest)})
        write_json(self.path / "summary.json", {**summary, FILES: self._written})

    def _write_all(self, contents: Mapping[str, bytes]) -> None:
        """`_write` of files by name, all at once: flushes that wait together take about as long as one."""
        with ThreadPoolExecutor(len(contents)) as pool:
            list(pool.map(self._write, contents, contents.values()))

    def _write(self, name: str, content: bytes) -> None:
        """Writes a file of the run; the summary will hold its digest, and its name is flushed with that."""
        write_bytes(self.path / name, content, flush_folder=False)
        self._written[name] = digest_of(content)

    def fail(self, failure: Mapping[str, Any], config: str | None = None) -> None:
        """Writes why the run failed, and its `config` where it failed before it was started."""
        if config is not None and not (self.path / "config.yaml").exists():
            write_bytes(self.path / "config.yaml", config.encode())
        write_json(self.path / "failure.json", failure)
