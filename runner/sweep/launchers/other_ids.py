"""Runs whose ids are others where they were computed than where they were asked for, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runner.config.run_settings import COMPILE, CONTENT
from runner.execution.devices import device_type
from runner.store.run_folder import RunFolder
from runner.store.short_hash import PARTS, named_code
from runner.sweep.jobs import Job
from runner.tasks.run_identity import written_run

NOT_SAID = (COMPILE, CONTENT, "code", "seed")
"""Keys of a written run that its command does not say."""

AUTO = (
    "device=auto or compile=auto stood for another value there than here",
    "give the value itself, such as compile=false, and repeat the command to find these runs",
)
"""A worker on another machine may resolve `auto` to something else."""

EDITED = "do not change it while a sweep starts; repeat the command for the runs of the present version"


def other_ids(jobs: Sequence[Job], others: Sequence[RunFolder]) -> str:
    """How many runs have ids that are none of those of `jobs`, and what differs where they were computed."""
    asked = [(job, written_run(job.config)) for job in jobs]
    why, what_helps = next(filter(None, (_difference(asked, each) for each in others)), AUTO)
    runs = "1 of the runs has another id" if len(others) == 1 else f"{len(others)} of the runs have other ids"
    it = "it was" if len(others) == 1 else "they were"
    return f"{runs} where {it} computed, since {why}; {what_helps}."


def _difference(asked: Sequence[tuple[Job, Mapping[str, Any]]], other: RunFolder) -> tuple[str, str] | None:
    """Why the run has another id than that of the job that asked for it, and what helps; None if unknown."""
    there, manifest = other.config(), other.manifest()
    if there is None or manifest is None:
        return None
    same = next(((job, here) for job, here in asked if _said(here) == _said(there)), None)
    if same is None:
        what = "a file of the configuration"
        return f"{what} there is not the same as when this command began", EDITED
    job, here = same
    device = (manifest.get("device") or {}).get("type")
    if device != device_type(job.config.device) or there.get(COMPILE) != here.get(COMPILE):
        return AUTO
    if there.get(CONTENT) != here.get(CONTENT):
        return "a data file there is not the same as here", EDITED
    names = sorted(set().union(*(named_code(there.get(part)) for part in PARTS)))
    if not names:
        return None
    code = f"the code of {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}"
    return f"{code} there is not the same as when this command began", EDITED


def _said(written: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in written.items() if key not in NOT_SAID}
