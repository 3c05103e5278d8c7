"""The only place here that imports the project: its commands, and which run belongs to which row.

Everything else reads plain files. When modules move, this file is the one to touch.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra.core.global_hydra import GlobalHydra

STOPPED = 75
"""Exit status of a command that was asked to stop."""


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    status: int
    out: str
    err: str


def command(argv: Sequence[str]) -> Ended:
    """``python -m runner`` with `argv`, in this process and the current folder."""
    from runner.__main__ import main

    return _ended(main, argv)


def table(argv: Sequence[str]) -> Ended:
    """``python -m runner.table`` with `argv`, likewise."""
    from runner.table import main

    return _ended(main, argv)


def _ended(main: Callable[[Sequence[str]], int], argv: Sequence[str]) -> Ended:
    GlobalHydra.instance().clear()
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(list(argv))
    GlobalHydra.instance().clear()
    return Ended(status, out.getvalue(), err.getvalue())


def jobs(experiment: str, overrides: Sequence[str]) -> list[tuple[str, tuple[str, ...], dict[int, str]]]:
    """The jobs of an experiment: label of the row, overrides, and the run's folder name by seed."""
    from runner.sweep.jobs import experiment_jobs

    GlobalHydra.instance().clear()
    found = experiment_jobs(experiment, list(overrides))
    GlobalHydra.instance().clear()
    return [(job.row, tuple(job.overrides), dict(job.run_ids)) for job in found]


@contextlib.contextmanager
def at(folder: Path) -> Iterator[None]:
    """In `folder`, without a data folder; signals and environment are afterwards as they were."""
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)}
    environment = dict(os.environ)
    for name in ("DATA_ROOT", "HYDRA_FULL_ERROR"):
        os.environ.pop(name, None)
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(environment)
        for number, handler in signals.items():
            signal.signal(number, handler)
