"""How many runs of some jobs are done, running, left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from runner.store.run_folder import UNREADABLE, RunFolder
from runner.store.run_store import Store
from runner.sweep.jobs import Job, folders_of
from runner.tasks.task import Task, task_of

SETTLED = ("done", "running", UNREADABLE)
"""Statuses of runs that a command does not begin."""


@dataclass(frozen=True)
class Standing:
    """One job: the status of each seed's run, and the summaries of the finished ones."""

    job: Job
    statuses: dict[int, str]
    summaries: list[dict[str, Any]]

    @property
    def left(self) -> int:
        """Runs that are not done, as far as they can be read now, and that no process is computing."""
        return len(self.seeds_left)

    @property
    def seeds_left(self) -> list[int]:
        """The seeds of these."""
        return [seed for seed, status in self.statuses.items() if status not in SETTLED]

    @property
    def task(self) -> Task:
        """What is done in each run."""
        return task_of(self.job.config)

    @property
    def work(self) -> int:
        """How much a run has to do: what its time is in proportion to."""
        return self.task.work(self.job.config)

    @property
    def costs(self) -> list[float]:
        """Seconds of each finished run."""
        return [self.task.run_seconds(summary) for summary in self.summaries]

    @property
    def evaluations(self) -> list[float]:
        """Evaluations of the target in each finished run."""
        return [self.task.evaluations(self.job.config, summary) for summary in self.summaries]


def standing(job: Job) -> Standing:
    """The status of the runs of `job` on disk."""
    store = Store(job.config.output_root)
    folders = {seed: store.run(run_id) for seed, run_id in job.run_ids.items()}
    found = {seed: folder.standing() for seed, folder in folders.items()}
    summaries = [summary for _, summary in found.values() if summary is not None]
    return Standing(job, {seed: status for seed, (status, _) in found.items()}, summaries)


def distinct_runs(standings: Sequence[Standing]) -> list[Standing]:
    """The same jobs, each run with the first that has it: jobs may share runs."""
    found, known = [], set[str]()
    for each in standings:
        ids = each.job.run_ids
        own = {seed: status for seed, status in each.statuses.items() if ids[seed] not in known}
        known |= set(ids.values())
        found.append(replace(each, statuses=own))
    return found


def status_counts(standings: Sequence[Standing]) -> dict[tuple[str, str], Counter[str]]:
    """How many runs have each status, by row and cell; seeds that are jobs of their own share a line."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for each, place in zip(standings, _places(standings), strict=True):
        statuses = {each.job.run_ids[seed]: status for seed, status in each.statuses.items()}
        found.setdefault(place, {}).update(statuses)
    return {place: Counter(statuses.values()) for place, statuses in found.items()}


def running(standings: Sequence[Standing]) -> list[tuple[tuple[str, str], int, RunFolder]]:
    """The row and cell, the seed and the folder of each run that a process is computing."""
    return [
        (place, seed, folder)
        for each, place in zip(standings, _places(standings), strict=True)
        for folder, (seed, status) in zip(folders_of(each.job), each.statuses.items(), strict=True)
        if status == "running"
    ]


def _places(standings: Sequence[Standing]) -> list[tuple[str, str]]:
    common = set[str].intersection(*(set(each.job.overrides) for each in standings))
    return [(each.job.row, cell_of(each.job, common)) for each in standings]


def cell_of(job: Job, common: Collection[str]) -> str:
    """The grid point of a job; where there is no grid, its overrides without those `common` to all jobs."""
    if job.cell:
        return ", ".join(map(str, job.cell.values()))
    own = (line for line in job.overrides if line not in common and not line.startswith("seed="))
    return " ".join(own)
