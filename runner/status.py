"""How many runs of an experiment are done, and how long the missing ones will take; computes none of them.

``python -m runner.status pt_table1 [scale=quick output_root=DIR ...]``
``python -m runner.status runs [target=mog sampler=dmala,acs ...]``: of any runs that were ever started
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from runner.execution.command_line import ExperimentParser, reporting
from runner.execution.progress import Progress
from runner.execution.reached import duration
from runner.library.selected_runs import RUNS, selected_runs
from runner.report.page.statuses import lines_of_runs, running_of, show_statuses, show_under_way
from runner.store.left_out import left_out_runs
from runner.store.run_folder import LEFT_OUT
from runner.store.run_store import Store, other_runs
from runner.sweep.estimate import left
from runner.sweep.jobs import experiment_jobs
from runner.sweep.standing import Standing, distinct_runs, running, standing, status_counts


def left_out(standings: Sequence[Standing]) -> str:
    """A line on the damaged runs, and one on those that cannot be read now; empty where there are none."""
    return left_out_runs(
        Store(each.job.config.output_root).run(each.job.run_ids[seed])
        for each in standings
        for seed, status in each.statuses.items()
        if status in LEFT_OUT
    )


@reporting
def main(argv: Sequence[str]) -> int:
    """The command line; the exit status is 0 whatever the runs' is, 2 for a mistake in the command."""
    experiment, overrides, _ = ExperimentParser("runner.status", __doc__).experiment(argv)
    if experiment == RUNS:
        chosen = selected_runs(overrides)
        show_statuses(chosen.title, lines_of_runs(chosen.runs, chosen.lost))
        show_under_way(running_of(chosen.runs))
        _say(left_out_runs(chosen.left_out()))
        return 0
    standings = [standing(job) for job in experiment_jobs(experiment, overrides)]
    show_statuses(experiment, status_counts(standings))
    show_under_way(running(standings))
    config = standings[0].job.config
    none_done = all("done" not in each.statuses.values() for each in standings)
    others = other_runs(experiment, str(config.scale.name), config.output_root) if none_done else ""
    _say(left_out(standings), others)
    standings = distinct_runs(standings)
    number = sum(each.left for each in standings)
    if number:
        with Progress():
            will = left(standings, briefly=True)
        runs = "1 run is" if number == 1 else f"{number} runs are"
        known = f": about {duration(will.seconds)} in one process{will.training}"
        time = known if will.untried < number else ""
        print(" ".join(filter(None, [f"{runs} left{time}.", will.unknown(number)])))
    else:
        print("No run is left to start.")
    return 0


def _say(*sentences: str) -> None:
    for said in sentences:
        print(said, end="\n" if said else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
