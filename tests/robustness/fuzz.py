"""Random overrides through the whole command line: each is done, or refused in one sentence with status 2.

``python -m tests.robustness.fuzz [--number 1000] [--seed 0] [--show]``

A command runs in a fork of this process, which has imported everything and composed the plain commands that
the overrides are added to: some ten commands a second. A run that starts is stopped as by Ctrl-C.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import resource
import shlex
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from runner.__main__ import main as command
from runner.config.overrides import Names, flattened
from runner.execution.command_line import UNFORESEEN
from runner.execution.errors import UserError
from runner.sweep import job_runner
from runner.sweep.jobs import jobs_of, requested
from runner.sweep.preflight import preflight
from tests.robustness.override_values import value
from tests.robustness.trial import Trial

SMALL = ("scale=smoke", "task.steps=4", "task.chains=2")
RBM = ("target=rbm", "target.dataset=digits", "target.n_hidden=3", "target.training.iterations=2")
LEARNING = ("task.iterations=2", "task.cd_steps=1", "task.chains=10", "task.ais.temperatures=10")
DEEP = (
    "target=resnet_ebm",
    "target.dataset=digits",
    "target.width=2",
    "target.blocks=1",
    "target.halvings=1",
)

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("target=bernoulli4", "sampler=dmala", "metric=[tv,jump,acceptance]", *SMALL),
    ("target=bernoulli4", "sampler=pt_gibbs", "sampler.ladder=[1,0.5]", "metric=standard", *SMALL),
    ("target=mog", "sampler=pt_dmala", "metric=standard", *SMALL),
    ("target=mos", "sampler=acs", "metric=[kl,emc,mmd]", *SMALL),
    ("target=minibatch", "sampler=dula", "tempering=parallel", "metric=[kl,ess]", *SMALL),
    ("target=bernoulli4", "sampler=ab", "metric=rhat", "streams=independent", *SMALL),
    ("target=stmh_two_modes", "sampler=stmh", "metric=[acceptance,level_occupancy]", *SMALL),
    ("target=gaussian_mixture", "sampler=reld", "metric=[ess,jump]", *SMALL),
    ("target=singular_mixture", "sampler=ula", "metric=mean_norm", *SMALL),
    ("target=tsp", "target.cities=4", "sampler=tour_swap", "metric=tour_cost", *SMALL),
    (
        "target=bernoulli4",
        "sampler=edmala",
        "logger=wandb",
        "logger.mode=disabled",
        "metric=flatness",
        *SMALL,
    ),
    ("target=binary_bnn", "sampler=edula", "metric=predictive_rmse", "target.tabular=breast_cancer", *SMALL),
    ("task=spectral_gap", "target=bernoulli4", "sampler=gibbs"),
    ("task=spectral_gap", "target=gaussian_mixture", "task.method=reld", "task.grid=20"),
    (*RBM, "sampler=rbm_gibbs", "metric=log_mmd", *SMALL),
    (*RBM, "scale=smoke", "task=learn", "sampler=dula", "sampler.step_size=0.5", *LEARNING),
    (*DEEP, "scale=smoke", "task=learn", "sampler=dmala", "sampler.step_size=0.2", *LEARNING),
    (*RBM, "scale=smoke", "task=classify", "sampler=gibbs", "task.samples=20"),
    (*RBM, "scale=smoke", "task=autoencode", "sampler=gibbs", "task.samples=20"),
    ("task=evaluate", "model=nowhere.safetensors", "scale=smoke"),
    ("-m", "target=bernoulli4", "sampler=gibbs,dmala", "seed=range(0,2)", "metric=tv", *SMALL),
    ("-m", "+experiment=pt_table1", "scale=smoke", "target=mog", "sampler=exact_draws"),
)
"""Plain commands, each of which is right as it stands, but that there is no model to evaluate."""

SECONDS_AT_WORK = 0.3
"""A run that has started is stopped after so long, and again until it ends."""

LONGEST = 60.0
"""Seconds after which a command that has not come to its work has hung; one at work is killed."""

MEMORY = 4 * 2**30
"""Bytes that a command may take beyond what this process has."""


class Fuzz:
    """Random commands, and what becomes of them.

    Args:
        folder: an empty folder in which the commands are given.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys: dict[tuple[str, ...], list[str]] = {}
        for plain in COMMANDS:
            self.keys[plain] = self._keys(plain)

    def _keys(self, plain: tuple[str, ...]) -> list[str]:
        """The keys of the configuration of a plain command; composes it, so that its forks need not."""
        lines = [line for line in plain if line != "-m"]
        request = requested(lines, multirun="-m" in plain)
        lines = request.plans[0].overrides
        names = Names([])
        chosen = [line for line in lines if line.split("=")[0].lstrip("+") in names.groups]
        composed = names.composed(*chosen)
        with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(UserError):
            preflight(jobs_of(request)[:1])
        return [key for key in flattened(composed) if not key.startswith(("sweep", "table"))]

    def command(self, chance: random.Random) -> list[str]:
        """A plain command with one to three random overrides."""
        plain = chance.choice(COMMANDS)
        return [*plain, *(self.override(plain, chance) for _ in range(chance.choice((1, 1, 1, 2, 3))))]

    def override(self, plain: tuple[str, ...], chance: random.Random) -> str:
        """A random override: mostly a key that is there, and a value of any kind."""
        key = chance.choice(self.keys[plain])
        if chance.random() < 0.08:
            key = chance.choice(
                (f"{key}.more", key[:-1], f"hydra.{key}", key.split(".")[0], f"{key}._target_")
            )
        if chance.random() < 0.05:
            return f"~{key}"
        return f"{chance.choice(('', '', '', '', '', '+', '++'))}{key}={value(chance, key)}"

    def trial(self, words: Sequence[str]) -> Trial:
        """Gives the command, and judges how it ended."""
        said = self.folder / "said.txt"
        sys.stdout.flush()
        sys.stderr.flush()
        started, process = os.pipe(), os.fork()
        if not process:
            _in_fork(words, self.folder, said, started[1])
        os.close(started[1])
        status = _ended(process, time.monotonic() + LONGEST)
        at_work = bool(os.read(started[0], 1))
        os.close(started[0])
        return judged(words, status, said.read_text(errors="replace"), at_work)


def judged(words: Sequence[str], status: int | None, said: str, at_work: bool) -> Trial:
    """The trial of a command.

    Args:
        status: None where the command was killed because it took too long.
        at_work: whether it had passed all checks and begun to compute.
    """
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    lines = [line for line in said.splitlines() if line and not line.startswith(("warning: ", "seed ", "  "))]
    traceback = "Traceback" in said or 'File "' in said or UNFORESEEN in said
    if traceback or (status is not None and status < 0):
        outcome = "traceback"
    elif status == 2:
        outcome = "clean" if len(errors) == len(lines) == 1 else "traceback"
    elif status in (0, 1, 75):
        outcome = "clean"
    else:
        outcome = "clean" if status is None and at_work else "traceback"
    return Trial("random overrides", outcome, f"{shlex.join(words)}\nstatus {status}\n{said[-3000:]}")


def _in_fork(words: Sequence[str], folder: Path, said: Path, started: int) -> None:
    """Gives the command in this process, a fork, and ends it."""
    status = 70
    try:
        os.chdir(folder)
        output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(output, number)
            # Under pytest these are others than those of the process.
            setattr(sys, name, os.fdopen(number, "w", closefd=False))
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        compute: Any = job_runner.compute

        def computing(*arguments: Any) -> Any:
            os.write(started, b"!")
            signal.signal(signal.SIGALRM, _stop)
            signal.setitimer(signal.ITIMER_REAL, SECONDS_AT_WORK, SECONDS_AT_WORK)
            try:
                return compute(*arguments)
            finally:  # still inside the command, which obeys a signal that comes just now
                signal.setitimer(signal.ITIMER_REAL, 0)

        job_runner.compute = computing
        status = command(list(words))
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _stop(number: int, frame: FrameType | None) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _ended(process: int, until: float) -> int | None:
    """The exit status of a child; None where it had to be killed at the time `until`."""
    pause = 0.002
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def trials(number: int, seed: int = 0) -> Iterator[Trial]:
    """So many random commands, one after the other."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        torch.set_num_threads(1)  # a fork of a process with threads waits for them in vain
        fuzz = Fuzz(Path(folder))
        for _ in range(number):
            yield fuzz.trial(fuzz.command(chance))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status is 1 if a command ended in a traceback."""
    parser = argparse.ArgumentParser(prog="python -m tests.robustness.fuzz", description=__doc__)
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print every command and how it ended")
    given = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    began = time.monotonic()
    for trial in trials(given.number, given.seed):
        status = trial.said.split("\nstatus ", 1)[1].split("\n", 1)[0]
        counts[f"{trial.outcome}, status {status}"] += 1
        if counts.total() % 100 == 0:
            print(f"{counts.total()} commands: {dict(counts)}", flush=True)
        if given.show or trial.outcome != "clean":
            print(f"{trial.outcome}: {trial.said}", flush=True)
    seconds = time.monotonic() - began
    for what, found in sorted(counts.items()):
        print(f"{what}: {found}")
    print(f"{given.number} commands in {seconds:.0f} s")
    return int(any(not what.startswith("clean") for what in counts))


if __name__ == "__main__":
    sys.exit(main())
