"""What clients have sent to the server: runs, views, sweeps, artifacts and files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ENTITY = "tester"


@dataclass
class StoredRun:
    """A run as the server knows it.

    Attributes:
        fields: what `upsertBucket` said, later values over earlier ones.
        streams: the lines of each streamed file, by their place.
        files: uploaded files by path.
        exit_code: None until the client has said that the run is complete.
    """

    name: str
    fields: dict[str, Any] = field(default_factory=dict)
    streams: dict[str, dict[int, str]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    exit_code: int | None = None

    @property
    def history(self) -> list[dict[str, Any]]:
        """The history's rows in order."""
        lines = self.streams.get("wandb-history.jsonl", {})
        return [json.loads(lines[place]) for place in sorted(lines)]

    @property
    def summary(self) -> dict[str, Any]:
        """The last summary that was sent."""
        lines = self.streams.get("wandb-summary.json", {})
        summary: dict[str, Any] = json.loads(lines[max(lines)]) if lines else {}
        return summary

    @property
    def config(self) -> dict[str, Any]:
        """The configuration, without what W&B adds."""
        content = json.loads(self.fields.get("config") or "{}")
        return {key: item["value"] for key, item in content.items() if key != "_wandb"}

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """Axis and summary rules by metric, as W&B's configuration numbers them."""
        content = json.loads(self.fields.get("config") or "{}").get("_wandb", {}).get("value", {})
        items = content.get("m") or []
        names = [item.get("1") or item.get("2") for item in items]
        axes = [names[item["5"] - 1] if "5" in item else None for item in items]
        return {n: {"axis": a, "rules": i.get("7", [])} for n, a, i in zip(names, axes, items, strict=True)}

    def streamed(self, body: Mapping[str, Any]) -> None:
        """Takes lines to their places, so that a part that is sent again is there once."""
        for file, part in (body.get("files") or {}).items():
            lines = self.streams.setdefault(file, {})
            for place, line in enumerate(part["content"], part.get("offset", 0)):
                lines[place] = line
        if body.get("complete"):
            self.exit_code = int(body.get("exitcode") or 0)


@dataclass
class Project:
    """All that lies on the server; projects are not told apart but by their name in `fields`."""

    runs: dict[str, StoredRun] = field(default_factory=dict)
    views: dict[str, dict[str, Any]] = field(default_factory=dict)
    charts: dict[str, dict[str, Any]] = field(default_factory=dict)
    sweeps: dict[str, dict[str, Any]] = field(default_factory=dict)
    artifacts: dict[str, dict[str, Any]] = field(default_factory=dict)
    uploads: dict[str, bytes] = field(default_factory=dict)
    commands: list[dict[str, Any]] = field(default_factory=list)
    heartbeats: list[dict[str, Any]] = field(default_factory=list)

    def run(self, name: str) -> StoredRun:
        """The run of this name, which is made where there is none."""
        return self.runs.setdefault(name, StoredRun(name))
