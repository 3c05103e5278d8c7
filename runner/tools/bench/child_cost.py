"""Seconds and peak memory of a computation in a process of its own."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """Of a process.

    Attributes:
        seconds: as the process printed them, without its own start.
        megabytes: peak resident memory of the process since it started this program.
    """

    seconds: float
    megabytes: float


def cost_of(module: str, *arguments: str) -> Cost:
    """Of ``python -m module arguments``, which ends with `print_cost` and prints nothing else.

    Raises:
        RuntimeError: if the process fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "seconds"
        child = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", module, *arguments],
            dict(os.environ),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, str(answer), os.O_WRONLY | os.O_CREAT, 0o600),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            raise RuntimeError(f"python -m {module} {' '.join(arguments)} ended with status {code}")
        seconds, megabytes = map(float, answer.read_text().split())
    return Cost(seconds, megabytes)


def print_cost(seconds: float) -> None:
    """Prints what `cost_of` reads in the parent."""
    print(seconds, _peak_megabytes())


def _peak_megabytes() -> float:
    """Peak resident memory of this program; what the system reports to a parent includes the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return float(lines["VmHWM"].split()[0]) / 1024
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kilobytes, macOS bytes.
    return usage / (1024 if sys.platform != "darwin" else 1024**2)
