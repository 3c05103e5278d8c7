"""Where results lie on disk: one folder per run, named after its identity."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from runner.execution.errors import UserError
from runner.execution.storage_errors import StorageError
from runner.files.atomic_files import read_json
from runner.store.run_folder import RunFolder


class Store:
    """All results under one root."""

    def __init__(self, output_root: str | Path) -> None:
        self.root = Path(output_root)

    def run(self, run_id: str) -> RunFolder:
        """The folder of one run, whether it exists or not."""
        return RunFolder(self.root / "runs" / run_id)

    def tuning(self, tuning_id: str) -> Path:
        """The file of tuned hyperparameters, whether it exists or not."""
        return self.root / "artefacts" / f"{tuning_id}.json"

    def model(self, model_id: str) -> Path:
        """The folder of a trained model, whether it exists or not."""
        return self.root / "models" / model_id

    def require_writable(self) -> None:
        """Refuses an output root that cannot be written to; makes the folder if need be.

        Raises:
            UserError: if it cannot be made, is a file, or is read-only.
        """
        if str(self.root) == ".":
            raise UserError("output_root must name a folder of its own, '' or '.' was given.")
        try:
            (self.root / "runs").mkdir(parents=True, exist_ok=True)
            reason = "" if os.access(self.root / "runs", os.W_OK | os.X_OK) else "read-only"
        except OSError as error:
            reason = str(error.strerror or error)
            if any(place.is_symlink() and not place.exists() for place in (self.root, self.root / "runs")):
                reason = "a link to a folder that is not there"
        if reason:
            raise UserError(
                f"output_root must be a folder that can be written to, '{self.root}' was given ({reason})."
            )


def other_runs(experiment: str, scale: str, output_root: str | Path) -> str:
    """One sentence on finished runs that say they are of `experiment` at `scale`; empty without any.

    It is for a plan of which no run is done: theirs are other ids.
    """
    number = 0
    for path in sorted(Path(output_root).glob("runs/*")):
        with suppress(OSError, StorageError):  # what cannot be read now is not counted
            if experiment.encode() not in (path / "config.yaml").read_bytes():
                continue  # to read it as YAML takes a hundred times as long
            if (read_json(path / "summary.json") or {}).get("status") != "done":
                continue
            config = RunFolder(path).config() or {}
            named = config.get("scale")
            found = config.get("experiment"), named.get("name") if isinstance(named, Mapping) else None
            number += found == (experiment, scale)
    if not number:
        return ""
    runs, ids = ("1 finished run", "has an id") if number == 1 else (f"{number} finished runs", "have ids")
    return (
        f"{runs} of {experiment} at scale={scale} under {output_root} {ids} that this plan has not: they are "
        "of another version, or had other overrides, and are left alone (`runner.table runs "
        f"experiment={experiment}` shows them)."
    )
