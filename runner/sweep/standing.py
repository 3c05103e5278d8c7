"""How many runs of some jobs are done, and what the others will take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

from runner.execution.devices import device_type
from runner.execution.progress import current
from runner.models.identity import tuning_id
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store
from runner.sweep.jobs import Job, folders_of
from runner.tasks.task import Task, task_of


@dataclass(frozen=True)
class Standing:
    """One job: the status of each seed's run, and the summaries of the finished ones."""

    job: Job
    statuses: dict[int, str]
    summaries: list[dict[str, Any]]

    @property
    def left(self) -> int:
        """Runs that are not done and that no process is computing."""
        return sum(status not in ("done", "running") for status in self.statuses.values())

    @property
    def kind(self) -> str:
        """Runs of one kind take as long by their work: the row, or else the sampler."""
        return self.job.row or str(self.job.config.sampler.get("name"))

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


@dataclass
class Left:
    """What the runs that are left will take: seconds in one process, and evaluations of the target.

    Attributes:
        untried: how many of them are in neither, since their task has no short trial.
    """

    seconds: float = 0.0
    evaluations: float = 0.0
    untried: int = 0

    def unknown(self, number: int) -> str:
        """A sentence on those of the `number` runs whose time is not known; empty where it is of all."""
        if not self.untried:
            return ""
        if self.untried == number:
            return f"How long {'it takes' if number == 1 else 'they take'} cannot be told before one is done."
        return f"This leaves out {self.untried} of them, whose time cannot be told before one is done."


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


def left(standings: Sequence[Standing]) -> Left:
    """What the runs that are left will take, one after the other, with the tuning that they wait for.

    A run costs what a finished run of its job costs; else what those of its row cost by their work; else what
    a short trial of it says (`runner.tasks.task.Task.trial`). Evaluations are those of the runs alone.
    """
    rates: dict[str, list[tuple[float, float]]] = {}
    tuning: dict[str, list[float]] = {}
    for each in standings:
        costs = zip(each.costs, each.evaluations, strict=True)
        rates.setdefault(each.kind, []).extend((cost / each.work, done / each.work) for cost, done in costs)
        seconds = [float(summary["tuning"]["seconds"]) for summary in each.summaries if summary.get("tuning")]
        tuning.setdefault(each.kind, []).extend(seconds)
    tried = list(dict.fromkeys(each.kind for each in standings if each.left and not rates[each.kind]))
    progress = current()
    progress.start("trying a few steps", len(tried), 0)
    total, to_tune = Left(), set()
    for each in standings:
        if not each.left:
            continue
        config = each.job.config
        if not rates[each.kind]:
            progress.at(tried.index(each.kind), title=f"trying a few steps of {each.kind}")
            trial = each.task.trial(config, list(each.job.run_ids))
            if trial is None:
                total.untried += each.left
                continue
            rates[each.kind] = [(trial.seconds / each.work, trial.evaluations / each.work)]
            tuning[each.kind] = [trial.tuning_seconds] if trial.tuning_seconds else []
        rate, evaluations = (mean(values) for values in zip(*rates[each.kind], strict=True))
        total.seconds += each.left * (mean(each.costs) if each.costs else rate * each.work)
        total.evaluations += each.left * (mean(each.evaluations) if each.costs else evaluations * each.work)
        if "auto" not in config.sampler.values():
            continue
        name = tuning_id(config, device_type(config.device))
        if not Store(config.output_root).tuning(name).exists() and name not in to_tune:
            to_tune.add(name)
            total.seconds += mean(tuning[each.kind] or [0.0])
    progress.stop()
    return total


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
