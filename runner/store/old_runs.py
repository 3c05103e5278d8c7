"""Runs whose ids an earlier version gave: they are kept, and no command finds them."""

from __future__ import annotations

from pathlib import Path

from runner.execution.atomic_files import read_json
from runner.store.digest import SCHEMA


def old_runs(output_root: str | Path) -> str:
    """One sentence on the runs under `output_root` that have ids of an earlier schema; empty without any."""
    summaries = (read_json(path) for path in Path(output_root).glob("runs/*/summary.json"))
    number = sum(summary is not None and summary.get("schema") != SCHEMA for summary in summaries)
    if not number:
        return ""
    runs = "1 run has an id" if number == 1 else f"{number} runs have ids"
    return (
        f"{runs} of an earlier version under {output_root}: run ids have changed once since then, so these "
        "results are left alone and what a command asks for is computed anew."
    )
