"""How many runs of an experiment are done, and how long the missing ones will take; computes none of them.

``python -m runner.status pt_table1 [scale=quick output_root=DIR ...]``
``python -m runner.status runs [target=mog sampler=dmala,acs ...]``: of any runs that were ever started
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from runner.config.experiment_command import ExperimentParser
from runner.execution.command_line import reported
from runner.execution.devices import device_type
from runner.execution.progress import duration
from runner.models.identity import tuning_id
from runner.report.page.statuses import Lines, lines_of_runs, show_statuses
from runner.report.selection.selected_runs import RUNS, selected_runs
from runner.store.damaged_runs import damaged_runs
from runner.store.run_store import Store, old_runs
from runner.sweep.jobs import Job, experiment_jobs
from runner.tasks.task import task_of


@dataclass(frozen=True)
class Standing:
    """One job of an experiment: the status of each seed's run, and the summaries of the finished ones."""

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
    def work(self) -> int:
        """How much a run has to do: what its time is in proportion to."""
        return task_of(self.job.config).work(self.job.config)

    @property
    def costs(self) -> list[float]:
        """Seconds of each finished run."""
        task = task_of(self.job.config)
        return [task.run_seconds(summary) for summary in self.summaries]


def standing(job: Job) -> Standing:
    """The status of the runs of `job` on disk."""
    store = Store(job.config.output_root)
    folders = {seed: store.run(run_id) for seed, run_id in job.run_ids.items()}
    found = {seed: folder.standing() for seed, folder in folders.items()}
    summaries = [summary for _, summary in found.values() if summary is not None]
    return Standing(job, {seed: status for seed, (status, _) in found.items()}, summaries)


def damaged(standings: Sequence[Standing]) -> str:
    """One sentence on the damaged runs; empty where there is none."""
    return damaged_runs(
        Store(each.job.config.output_root).run(each.job.run_ids[seed])
        for each in standings
        for seed, status in each.statuses.items()
        if status == "damaged"
    )


def time_left(standings: Sequence[Standing]) -> float:
    """Seconds that the runs which are left will take, one after the other, and the tuning that they wait for.

    A run costs what a finished run of its job costs; else what those of its row cost by their work; else what
    a short trial of it says (`runner.tasks.task.Task.trial`).
    """
    rates: dict[str, list[float]] = {}
    tuning: dict[str, list[float]] = {}
    for each in standings:
        rates.setdefault(each.kind, []).extend(cost / each.work for cost in each.costs)
        seconds = [float(summary["tuning"]["seconds"]) for summary in each.summaries if summary.get("tuning")]
        tuning.setdefault(each.kind, []).extend(seconds)
    total, to_tune = 0.0, set()
    for each in standings:
        if not each.left:
            continue
        config = each.job.config
        if not rates[each.kind]:
            run_seconds, tuning_seconds = task_of(config).trial(config, list(each.job.run_ids))
            rates[each.kind] = [run_seconds / each.work]
            tuning[each.kind] = [tuning_seconds] if tuning_seconds else []
        total += each.left * (mean(each.costs) if each.costs else mean(rates[each.kind]) * each.work)
        if "auto" not in config.sampler.values():
            continue
        name = tuning_id(config, device_type(config.device))
        if not Store(config.output_root).tuning(name).exists() and name not in to_tune:
            to_tune.add(name)
            total += mean(tuning[each.kind] or [0.0])
    return total


def lines_of(standings: Sequence[Standing]) -> Lines:
    """The counts of an experiment; seeds that are jobs of their own share a line."""
    common = set[str].intersection(*(set(each.job.overrides) for each in standings))
    lines: Lines = {}
    for each in standings:
        lines.setdefault((each.job.row, cell_of(each.job, common)), Counter()).update(each.statuses.values())
    return lines


def cell_of(job: Job, common: Collection[str]) -> str:
    """The grid point of a job; where there is no grid, its overrides without those `common` to all jobs."""
    if job.cell:
        return ", ".join(map(str, job.cell.values()))
    own = (line for line in job.overrides if line not in common and not line.startswith("seed="))
    return " ".join(own)


def main(argv: Sequence[str]) -> int:
    """The command line; the exit status is 0 whatever the runs' is, 2 for a mistake in the command."""
    return reported(lambda: _main(argv))


def _main(argv: Sequence[str]) -> int:
    experiment, overrides, _ = ExperimentParser("runner.status", __doc__).experiment(argv)
    if experiment == RUNS:
        chosen = selected_runs(overrides)
        show_statuses(chosen.title, lines_of_runs(chosen.runs))
        _say(
            damaged_runs(run.folder for run in chosen.runs if run.status == "damaged"), old_runs(chosen.root)
        )
        return 0
    standings = [standing(job) for job in experiment_jobs(experiment, overrides)]
    show_statuses(experiment, lines_of(standings))
    _say(damaged(standings), old_runs(standings[0].job.config.output_root))
    left = sum(each.left for each in standings)
    if left:
        print(f"{left} runs are left: about {duration(time_left(standings))} in one process.")
    else:
        print("No run is left to start.")
    return 0


def _say(*sentences: str) -> None:
    for said in sentences:
        print(said, end="\n" if said else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
