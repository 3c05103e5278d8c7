"""The index of a store: what is known of each run, read anew only where a file of the run has changed."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.site.index.run_entry import RunEntry, run_entry_of, stamp_of
from runner.store.run_store import Store
from runner.sweep.jobs import Job

SETTLED = ("done", "damaged")
"""Statuses that change only when a file does; a process may take up any other run, or leave it."""


@dataclass
class Index:
    """The runs of a store by id, and what was computed for pages that are still as they were.

    Attributes:
        runs: every run that was ever started.
        pages: of each page and data file of the report, what it was made from.
        kept: results of other modules that take long to compute, by their names.
        version: what code they were computed by; those of another are forgotten.
        composed: jobs of new plans that no page has been made of yet: to make their configurations again
            from `kept` takes as long as to check them.
    """

    version: str
    runs: dict[str, RunEntry] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)
    composed: dict[str, list[Job]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path, version: str) -> Index:
        """The index in the file `path`; an empty one where there is none of this version."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            content = json.loads(path.read_bytes())
            if content["version"] == version:
                runs = {each["run_id"]: RunEntry(**each) for each in content["runs"]}
                return cls(version, runs, content["pages"], content["kept"])
        return cls(version)

    def save(self, path: Path) -> None:
        """Writes the index; a reader sees the old one or the new one, also where two processes write."""
        runs = [vars(entry) for entry in self.runs.values()]
        content = {"version": self.version, "pages": self.pages, "kept": self.kept, "runs": runs}
        temporary = path.with_name(f"{path.name}.{os.getpid()}.partial")
        temporary.write_text(json.dumps(content))
        temporary.replace(path)

    def update(self, store: Store) -> set[str]:
        """Brings the runs up to date with the disk; the ids of those that changed, appeared or are gone."""
        found: dict[str, RunEntry] = {}
        changed: set[str] = set()
        for path in sorted((store.root / "runs").glob("*")):
            try:
                stamp = stamp_of(path)
            except OSError:
                continue
            before = self.runs.get(path.name)
            if before is not None and before.stamp == stamp and before.status in SETTLED:
                found[path.name] = before
                continue
            entry = run_entry_of(store.run(path.name), stamp)
            if entry.status == "missing":
                continue
            found[path.name] = entry
            if entry != before:
                changed.add(path.name)
        changed |= self.runs.keys() - found.keys()
        self.runs = found
        return changed
