"""Workers of joblib and of Ray that are killed while they compute the runs of a sweep."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from runner.files.lock_holders import holder, is_held
from tests.robustness.sweeps import PATIENCE, RUNS, Rows, Said, judged
from tests.robustness.trial import Trial
from tests.support.commands import rows_by_run

JOBLIB, RAY = "joblib worker killed", "Ray worker killed"
KINDS = (JOBLIB, RAY) if importlib.util.find_spec("ray") else (JOBLIB,)

SWEEP = (
    "-m",
    "target=bernoulli4",
    "sampler=gibbs",
    "metric=[tv,jump]",
    "task.steps=3000",
    "task.chains=3,4,5,6",
    "seed=range(0,3)",
    "checkpoint.steps=200",
)
"""Four jobs of three runs, of half a second or more each."""

LAUNCHERS = {
    "": ("hydra/launcher=basic",),
    JOBLIB: ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2"),
    RAY: ("hydra/launcher=ray", "+hydra.launcher.ray.init.num_cpus=2"),
}
WITHOUT_RETRIES = "+hydra.launcher.ray.remote.max_retries=0"
"""Ray itself repeats a task three times, so that a job goes back into the queue at the fourth kill."""

KILLS = 4
"""Kills in one sweep at most: one more than a job is put back."""

ROOT = Path(__file__).parents[2]


def trials(number: int, kind: str, seed: int = 0) -> Iterator[Trial]:
    """So many killed workers of a kind, several in one sweep, and what became of the sweep for each."""
    with tempfile.TemporaryDirectory() as folder:
        expected = _undisturbed(Path(folder))
        made = 0
        while made < number:
            place = Path(folder) / str(made)
            place.mkdir()
            chance = random.Random(f"{kind} {seed + made}")
            killed, trial = _sweep(kind, place, expected, chance, min(KILLS, number - made))
            # A sweep may end before the last kill that was meant for it.
            for _ in range(max(killed, int(trial.outcome != "clean"))):
                made += 1
                yield trial
            shutil.rmtree(place)


def _sweep(kind: str, folder: Path, expected: Rows, chance: random.Random, kills: int) -> tuple[int, Trial]:
    """How many workers were killed in a sweep, and what became of it."""
    root, said = folder / "outputs", folder / "said"
    launcher = LAUNCHERS[kind]
    if kind == RAY and chance.random() < 0.7:
        launcher = (*launcher, WITHOUT_RETRIES)
    process, killed, deadline = _command(launcher, root, said), 0, time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(chance.uniform(0, 0.3))
        if killed < kills and (worker := _worker(root, process.pid, chance)) is not None:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
                killed += 1
    if process.poll() is None:
        process.kill()
        process.wait()
        return killed, Trial(kind, "lost", f"it hung for {PATIENCE:g} s after {killed} kills")
    ended = Said(process.returncode, said.read_text(errors="replace"))
    named = f"{kind}, {killed} in a sweep"
    return killed, judged(named, root, expected, [ended], lambda: _in_peace(root, folder / "repeated"))


def _worker(root: Path, command: int, chance: random.Random) -> int | None:
    """The process id of a worker that computes a run just now."""
    locks = [path for path in root.glob("runs/*/lock") if is_held(path)]
    found = {who.pid for path in locks if (who := holder(path)) is not None} - {command}
    return chance.choice(sorted(found)) if found else None


def _undisturbed(folder: Path) -> Rows:
    ended = _in_peace(folder / "undisturbed", folder / "said")
    assert ended.status == 0, ended.text
    expected = rows_by_run(folder / "undisturbed")
    assert len(expected) == RUNS
    return expected


def _in_peace(root: Path, said: Path) -> Said:
    """The sweep in one process, to which nothing happens."""
    process = _command(LAUNCHERS[""], root, said)
    return Said(process.wait(PATIENCE), said.read_text(errors="replace"))


def _command(launcher: Sequence[str], root: Path, said: Path) -> subprocess.Popen[bytes]:
    """The sweep with a launcher, as a user gives it."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    plain = {"PYTHONPATH": path, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
    with said.open("wb") as printed:
        return subprocess.Popen(
            [sys.executable, "-m", "runner", *SWEEP, f"output_root={root}", *launcher],
            cwd=said.parent,
            env={**os.environ, **plain},
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
