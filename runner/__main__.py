"""``python -m runner``: one run, a sweep, or an experiment.

Names are checked before torch is imported; whatever is wrong is one sentence.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra

from runner.config.compose import CONFIG
from runner.config.experiment_command import with_config_dir
from runner.execution.command_line import OneSentenceParser, reported
from runner.execution.errors import UserError
from runner.execution.signals import listen

if TYPE_CHECKING:
    from runner.report.selection.stored_runs import StoredRun
    from runner.sweep.jobs import Job


def main(argv: Sequence[str]) -> int:
    """Runs the command `argv` and returns its exit status."""
    return reported(lambda: _main(argv))


def _main(argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    if args.config_name is not None or args.config_path is not None:
        raise UserError("--config-name and --config-path would replace the configuration; use --config-dir.")
    lines = with_config_dir(args.overrides, args.config_dir)
    args.config_dir = None
    if args.hydra_help or args.info is not None or args.shell_completion or args.experimental_rerun:
        return _hydra(lines, args)

    from runner.config.overrides import other_sweeper, parse
    from runner.sweep.jobs import requested

    if args.multirun and args.cfg:
        raise UserError("--cfg shows one configuration, -m makes many; leave one of them out.")
    if args.multirun and other_sweeper(parse(lines)):
        listen()
        from runner.sweep.optuna_search import run_search, wanted

        if (search := wanted(lines)) is not None:
            return run_search(search)
        from runner.sweep.launch import leave_to_hydra

        return leave_to_hydra(lines)
    request = requested(lines, multirun=args.multirun)
    if args.cfg == "job" and args.package is None:
        from omegaconf import OmegaConf

        from runner.config.compose import compose

        job = compose([*request.hydra, *request.plans[0].overrides])
        print(OmegaConf.to_yaml(job, resolve=args.resolve))
        return 0
    if args.help or args.cfg:
        return _hydra([*request.hydra, *request.plans[0].overrides], args)

    listen()
    from runner.sweep.launch import run_one, run_sweep

    if not args.multirun:
        return run_one(request)
    return run_sweep(request, partial(_show, request.hydra))


def _show(hydra: Sequence[str], jobs: Sequence[Job]) -> None:
    """Prints the table of the runs that are done, and where their workspace is."""
    from runner.dashboards.sweep_end import show_sweep

    runs: list[StoredRun] = []
    # An experiment has a table of its own, `runner.table`.
    if not jobs[0].row:
        from runner.report.selection.stored_runs import done_runs
        from runner.report.selection_table import show_runs
        from runner.sweep.jobs import folders_of

        runs = done_runs([folder for each in jobs for folder in folders_of(each)])
        if runs:
            show_runs(runs, "The runs of this sweep")
    show_sweep(jobs, runs, hydra)


def _parser() -> argparse.ArgumentParser:
    """Hydra's parser, whose errors are one sentence."""
    parser = get_args_parser()
    parser.__class__ = OneSentenceParser
    return parser


def _hydra(lines: Sequence[str], args: argparse.Namespace) -> int:
    """Leaves to Hydra what Hydra does: help, the configuration, information about itself."""
    from hydra import main as hydra_main

    GlobalHydra.instance().clear()
    flags = [sys.argv[0]]
    for name in ("help", "hydra_help", "resolve", "shell_completion"):
        flags += [f"--{name.replace('_', '-')}"] if getattr(args, name) else []
    for name in ("cfg", "package", "info", "experimental_rerun"):
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
    sys.exit(main(sys.argv[1:]))
