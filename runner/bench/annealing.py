"""Seconds and peak memory of annealed importance sampling, each length in a process of its own."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from metrics.ais import Annealing, base_draws
from metrics.ais_schedule import schedule
from targets.randomness import Streams
from targets.rbm import RBM

VISIBLE, HIDDEN, CHAINS = 784, 500, 100


@dataclass(frozen=True)
class Cost:
    """What an annealing took.

    Attributes:
        seconds: of its steps, without starting the process.
        megabytes: peak resident memory of the whole process.
    """

    seconds: float
    megabytes: float


def cost(temperatures: int) -> Cost:
    """Of a forward annealing of the 784 x 500 machine with 100 chains, float32, in a new process.

    Raises:
        RuntimeError: if the process fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "seconds"
        child = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "runner.bench.annealing", str(temperatures)],
            dict(os.environ),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, str(answer), os.O_WRONLY | os.O_CREAT, 0o600),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
        _, status, usage = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            raise RuntimeError(f"the annealing of {temperatures} temperatures ended with status {code}")
        seconds = float(answer.read_text())
    # Linux counts kilobytes, macOS bytes.
    return Cost(seconds, usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2))


def main() -> None:
    """Anneals along as many temperatures as the command line says and prints the seconds."""
    rbm = RBM(VISIBLE, HIDDEN).float().requires_grad_(False)
    streams = Streams([0], "bench/annealing")
    run = Annealing(rbm, schedule(int(sys.argv[1])), base_draws(rbm, CHAINS, streams), streams)
    begun = time.perf_counter()
    run.advance(run.steps)
    print(time.perf_counter() - begun)


if __name__ == "__main__":
    main()
