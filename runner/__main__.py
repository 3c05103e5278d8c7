"""``python -m runner``: one run, a sweep, or an experiment.

Names are checked before torch is imported; whatever is wrong is one sentence.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra

from runner.config.compose import CONFIG
from runner.execution.command_line import OneSentenceParser, exit_statuses, reporting, with_config_dir
from runner.execution.errors import UserError, counted, warn
from runner.execution.memory.garbage import collect_once_imported
from runner.execution.signals import listen

if TYPE_CHECKING:
    from runner.report.selection.stored_runs import StoredRun
    from runner.sweep.jobs import Job, Request

STATUSES = {
    0: "done",
    1: "some runs failed, the others are done",
    3: "other processes still compute some of the runs",
    75: "told to stop, and all is saved: repeat the command to continue",
}
"""What the exit statuses of a run or a sweep mean; others are those of every command."""


@reporting
def main(argv: Sequence[str]) -> int:
    """Runs the command `argv` and returns its exit status."""
    args = _parser().parse_intermixed_args(argv)
    if args.config_name is not None or args.config_path is not None:
        raise UserError("--config-name and --config-path would replace the configuration; use --config-dir.")
    lines = with_config_dir(args.overrides, args.config_dir)
    args.config_dir = None
    if args.experimental_rerun is not None:
        raise UserError("--experimental-rerun computes nothing; repeat the command in a run's manifest.json.")
    if args.hydra_help or args.info is not None or args.shell_completion:
        return _hydra(lines, args)

    from runner.config.overrides import check_keys_of_one_job, check_one_job, other_sweeper, parse
    from runner.sweep.jobs import requested

    if args.multirun and args.cfg:
        raise UserError("--cfg shows one configuration, -m makes many; leave one of them out.")
    if (args.resolve or args.package is not None) and not args.cfg:
        raise UserError("--resolve and --package say how --cfg shows the configuration; add --cfg job.")
    if args.multirun and other_sweeper(parse(lines)):
        return _search(lines, dry=args.dry_run)
    if not (args.multirun or args.cfg or args.help):
        check_keys_of_one_job(parse(lines))
    request = requested(lines, multirun=args.multirun)
    if args.cfg in ("job", "all"):
        return _show_configuration(request, args.package, resolve=args.resolve, whole=args.cfg == "all")
    if args.help or args.cfg:
        status = _hydra([*request.hydra, *request.plans[0].overrides], args)
        if args.help:
            print(f"\n{exit_statuses(STATUSES)}")
        return status

    if not args.multirun:
        check_one_job(request.hydra)
    listen()
    _ = request.configs  # wrong values are found before torch is imported
    checks: list[Callable[[], None]] = []
    if not args.multirun:
        _leave_experiment(request, lines)
    else:
        from runner.report.experiment_shape import check_figures, check_table

        check_table(request.plans[0].overrides, request.jobs, request.names)
        checks = [partial(check_figures, request.plans[0].overrides, request.names)]
    if args.dry_run:
        return _show_plan(request)
    from runner.sweep.launch import run_one, run_sweep

    if len(request.jobs) == 1 and not args.multirun:
        return run_one(request)
    return run_sweep(request, partial(_show, request.hydra), *checks)


def _leave_experiment(request: Request, lines: Sequence[str]) -> None:
    """Takes the experiment's name from a run that is none of its jobs, and would be listed among its runs.

    The command that repeats a failed job is one of them; a trial of a W&B sweep notes whose settings it has.
    """
    from runner.config.experiments.experiment_file import named_sweep, table_not_run
    from runner.config.overrides import EXPERIMENT
    from runner.sweep.jobs import jobs_of, requested

    named = named_sweep(request.given, request.names)
    if named is None or any(each.key_or_group == "objective" for each in request.given):
        return
    own: set[str] = set()
    with suppress(UserError):  # where no job has these values
        own.update(*(job.run_ids.values() for job in jobs_of(requested(lines, multirun=True))))
    if own.issuperset(*(job.run_ids.values() for job in request.jobs)):
        return
    for job in request.jobs:
        job.config.experiment = None
    if table_not_run(request.given, request.names) is not None:
        warn(
            f"`+{EXPERIMENT}={named[0]}` without -m is one run with the default target and sampler, and none "
            "of the experiment's; -m runs the table."
        )


def _search(lines: Sequence[str], *, dry: bool) -> int:
    """A sweep that decides on its jobs as it goes, by Optuna or another sweeper of Hydra's."""
    from runner.sweep.search.search_space import wanted_search

    search = wanted_search(lines)
    if dry:
        raise UserError("--dry-run shows the runs of a grid; a search decides on its trials as it goes.")
    listen()
    if search is None:
        from runner.sweep.search.other_sweepers import leave_to_hydra

        return leave_to_hydra(lines)
    from runner.sweep.search.optuna_search import run_search

    return run_search(search)


def _show_configuration(request: Request, package: str | None, *, resolve: bool, whole: bool) -> int:
    """Prints the configuration that would run, or what stands in it at the key `package`.

    Args:
        whole: whether Hydra's own settings are in it, too.
    """
    from omegaconf import OmegaConf

    from runner.config.compose import compose, compose_all, one_sentence_errors
    from runner.config.overrides import flattened
    from runner.execution.errors import nearest

    job = (compose_all if whole else compose)([*request.hydra, *request.plans[0].overrides])
    if package is None or package == "_global_":
        print(OmegaConf.to_yaml(job, resolve=resolve))
        return 0
    keys = flattened(OmegaConf.to_container(job, resolve=False))  # type: ignore[arg-type]
    if package not in keys:
        raise UserError(f"--package must be a key, '{package}' was given{nearest(package, keys) or '.'}")
    with one_sentence_errors():
        found = OmegaConf.select(job, package)
        inside = OmegaConf.is_config(found)
        print(f"# @package {package}\n{OmegaConf.to_yaml(found, resolve=resolve)}" if inside else found)
    return 0


def _show_plan(request: Request) -> int:
    """Prints what the runs of `request` are, and what those that are not done will take; starts none."""
    from runner.execution.progress import Progress
    from runner.execution.reached import duration
    from runner.report.experiment_shape import check_figures
    from runner.report.page.statuses import show_statuses
    from runner.sweep.estimate import left
    from runner.sweep.launchers.asked_for import check_launcher
    from runner.sweep.preflight import tried_out
    from runner.sweep.standing import distinct_runs, standing, status_counts

    check_figures(request.plans[0].overrides, request.names)
    check_launcher(request)
    standings = [standing(job) for job in tried_out(request)]
    lines = status_counts(standings)
    if len(lines) > 1:
        show_statuses("The plan", lines)
    standings = distinct_runs(standings)
    runs, to_do = sum(len(each.statuses) for each in standings), sum(each.left for each in standings)
    print(f"{counted(runs, 'run')}, {to_do} to do.", flush=True)
    if to_do:
        with Progress():
            will = left(standings)
        spent = f"{will.evaluations:,.0f} evaluations of the target and " if will.evaluations else ""
        they = "It takes" if to_do == 1 else "They take"
        if will.untried < to_do:
            here = f"in one process on this machine{will.training}"
            print(f"{they} about {spent}{duration(will.seconds)} {here}.")
        if said := will.unknown(to_do):
            print(said)
    print("Nothing was started.")
    return 0


def _show(hydra: Sequence[str], jobs: Sequence[Job]) -> None:
    """Prints the table of the runs once one is done, and where their workspace is."""
    from runner.dashboards.sweep_end import show_sweep

    runs: list[StoredRun] = []
    # An experiment has a table of its own, `runner.table`.
    if not jobs[0].row:
        from runner.report.selection.stored_runs import runs_in
        from runner.report.selection_table import show_runs
        from runner.sweep.jobs import folders_of

        # With those that failed: the mean of the others is compared with none.
        started = runs_in(folder for each in jobs for folder in folders_of(each))
        runs = started if any(run.status == "done" for run in started) else []
        if runs:
            show_runs(runs, "The runs of this sweep")
    show_sweep(jobs, runs, hydra)


def _parser() -> argparse.ArgumentParser:
    """Hydra's parser, whose errors are one sentence."""
    parser = get_args_parser()
    parser.__class__ = OneSentenceParser
    parser.add_argument("--dry-run", action="store_true", help="show the plan and start nothing")
    return parser


def _hydra(lines: Sequence[str], args: argparse.Namespace) -> int:
    """Leaves to Hydra what Hydra does: help, the configuration, information about itself."""
    from hydra import main as hydra_main

    GlobalHydra.instance().clear()
    flags = [sys.argv[0]]
    for name in ("help", "hydra_help", "resolve", "shell_completion"):
        flags += [f"--{name.replace('_', '-')}"] if getattr(args, name) else []
    for name in ("cfg", "package", "info"):
        value = getattr(args, name)
        flags += [f"--{name.replace('_', '-')}", value] if value is not None else []
    before, sys.argv = sys.argv, [*flags, *lines]
    try:
        hydra_main(version_base="1.3", config_path="pkg://conf", config_name=CONFIG)(_nothing)()
    except SystemExit as ended:
        return int(ended.code or 0)
    finally:
        sys.argv = before
        GlobalHydra.instance().clear()
    return 0


def _nothing(config: object) -> None:
    """Hydra wants a task function, also where it calls none."""


if __name__ == "__main__":
    collect_once_imported()
    sys.exit(main(sys.argv[1:]))
