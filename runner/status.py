"""Where the runs of an experiment stand, and how long those that are missing will take. Starts none.

``python -m runner.status pt_table1 [scale=quick output_root=DIR ...]``
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

from omegaconf import DictConfig
from rich.console import Console
from rich.table import Table

from runner.execution.command_line import OneSentenceParser, reported
from runner.execution.devices import device_type
from runner.execution.progress import duration
from runner.models.identity import artefact_id
from runner.store.run_store import Store
from runner.sweep.jobs import Job, experiment_jobs

STATUSES = ("done", "running", "interrupted", "failed", "missing")

TRIAL_STEPS = 20
"""Steps that are measured of a sampler of which no run is done."""


@dataclass(frozen=True)
class Standing:
    """One job of an experiment: the status of each seed's run, and the summaries of those that are done."""

    job: Job
    statuses: dict[int, str]
    summaries: list[dict[str, Any]]

    @property
    def left(self) -> int:
        """Runs that are not done and that nobody is computing."""
        return sum(status not in ("done", "running") for status in self.statuses.values())

    @property
    def kind(self) -> str:
        """Runs of one kind take as long by their work: the row, or else the sampler."""
        return self.job.row or str(self.job.config.sampler.get("name"))

    @property
    def work(self) -> int:
        """Steps times chains of a run: what its time is in proportion to."""
        task = self.job.config.task
        if task.name in ("evaluate", "spectral_gap"):
            return 1
        steps = task.iterations * task.cd_steps if task.name == "learn" else task.steps
        return int(steps) * int(task.chains)


def standing(job: Job) -> Standing:
    """How the runs of `job` stand on disk."""
    store = Store(job.config.output_root)
    folders = {seed: store.run(run_id) for seed, run_id in job.run_ids.items()}
    summaries = [summary for folder in folders.values() if (summary := folder.summary()) is not None]
    return Standing(job, {seed: folder.status() for seed, folder in folders.items()}, summaries)


def time_left(standings: Sequence[Standing]) -> float:
    """Seconds that the runs which are left will take, one after the other, and the tuning that they wait for.

    A run costs what a done run of its job costs; else what those of its row cost by steps and chains; else
    a few steps of it are measured here. What the first minute of a process costs is not counted.
    """
    rates: dict[str, list[float]] = {}
    tuning: dict[str, list[float]] = {}
    for each in standings:
        for summary in each.summaries:
            rates.setdefault(each.kind, []).append(cost(summary) / each.work)
            if summary.get("tuning"):
                tuning.setdefault(each.kind, []).append(float(summary["tuning"]["seconds"]))
    total, to_tune = 0.0, set()
    for each in standings:
        if not each.left:
            continue
        if each.kind not in rates:
            rate, seconds = trial(each.job)
            rates[each.kind] = [rate]
            tuning[each.kind] = [seconds] if seconds else []
        own = [cost(summary) for summary in each.summaries]
        total += each.left * (mean(own) if own else mean(rates[each.kind]) * each.work)
        name = artefact_id(each.job.config, device_type(each.job.config.device))
        absent = not Store(each.job.config.output_root).artefact(name).exists()
        if absent and name not in to_tune and "auto" in each.job.config.sampler.values():
            to_tune.add(name)
            total += mean(tuning.get(each.kind) or [0.0])
    return total


def cost(summary: Mapping[str, Any]) -> float:
    """Seconds of a done run; of a learned model those of its training, whichever run paid for it."""
    annealing = summary["metrics"].get("ais_seconds")
    if annealing is not None:
        return float(summary["seconds"]) + float(annealing)
    return float(summary["wall_seconds"])


def trial(job: Job) -> tuple[float, float]:
    """Seconds of one step of one chain, and of the tuning: measured without writing to the output root."""
    from runner.problem.build import build
    from runner.problem.tuning_cache import tune
    from runner.tasks.sample import begin, sample
    from targets.randomness import Streams

    if job.config.task.name == "learn":
        from runner.tasks.learning_trial import learning_seconds

        return learning_seconds(job.config, next(iter(job.run_ids))) / standing(job).work, 0.0
    if job.config.task.name == "spectral_gap":
        return 0.0, 0.0  # An eigenvalue has no steps that could be tried: its time is not foretold.
    problem, seconds = build(_to_try(job.config)), 0.0
    if problem.tunable is not None:
        found, seconds = tune(problem)
        problem = problem.with_kernel(problem.tunable.kernel(found.hyperparameters))
    problem = problem.prepared()
    seeds = list(job.run_ids)
    if "training" in job.config.target:
        draws = problem.target.initial((1, int(job.config.task.chains)), Streams([0], "trial"))
        problem.target.held_out = draws[0]

    def wall(steps: int) -> float:
        settings = replace(problem.settings, steps=steps, burn_in=0, record=0)
        run = begin(replace(problem, settings=settings), seeds)
        sample(replace(problem, settings=settings), run, lambda _: None)
        return run.wall_seconds

    wall(TRIAL_STEPS)  # the first stretch pays for imports
    # What a run pays once, such as its last metrics, is in both and drops out.
    longer = max(0.0, wall(6 * TRIAL_STEPS) - wall(TRIAL_STEPS))
    return longer / (5 * TRIAL_STEPS * problem.settings.chains * len(seeds)), seconds


def _to_try(config: DictConfig) -> DictConfig:
    """What a trial runs in place of `config`: a learned target is not trained yet, so nothing is measured."""
    if "training" not in config.target:
        return config
    tried = copy.deepcopy(config)
    tried.metric = {}
    sampled = {"name": "sample", "burn_in": 0, "start": "random", "record": 0}
    tried.task = {**sampled, "steps": 100 * TRIAL_STEPS, "chains": config.task.chains}
    return tried


def table_of(experiment: str, standings: Sequence[Standing]) -> Table:
    """One line per row and cell, and their sum."""
    table = Table(title=experiment, title_justify="left", header_style="bold", show_footer=True)
    total = Counter(status for each in standings for status in each.statuses.values())
    table.add_column("row", footer="all", no_wrap=True)
    table.add_column("cell", no_wrap=True)
    for status in STATUSES:
        table.add_column(status, justify="right", footer=str(total[status]))
    lines: dict[tuple[str, str], Counter[str]] = {}
    for each in standings:  # seeds that are jobs of their own share a line
        lines.setdefault((each.job.row, cell_of(each.job)), Counter()).update(each.statuses.values())
    for (row, cell), counts in lines.items():
        table.add_row(row, cell, *(str(counts[status] or "") for status in STATUSES))
    return table


def cell_of(job: Job) -> str:
    """The grid point of a job; where there is no grid, what its row adds."""
    if job.cell:
        return ", ".join(map(str, job.cell.values()))
    return " ".join(line for line in job.overrides if not line.startswith(("+experiment=", "seed=")))


def main(argv: Sequence[str]) -> int:
    """The command line; the exit status is 0 whatever the runs' is, 2 for a mistake in the command."""
    return reported(lambda: _main(argv))


def _main(argv: Sequence[str]) -> int:
    parser = OneSentenceParser(prog="python -m runner.status", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("experiment", help="name of an experiment, such as pt_table1")
    parser.add_argument("overrides", nargs="*", help="as for the sweep: scale=paper output_root=DIR ...")
    given: argparse.Namespace = parser.parse_args(argv)
    standings = [standing(job) for job in experiment_jobs(given.experiment, given.overrides)]
    Console(width=None if sys.stdout.isatty() else 160).print(table_of(given.experiment, standings))
    left = sum(each.left for each in standings)
    if left:
        print(f"{left} runs are left: about {duration(time_left(standings))} in one process.")
    else:
        print("No run is left to start.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
