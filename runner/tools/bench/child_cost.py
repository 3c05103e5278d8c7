"""Seconds and peak memory of a computation in a process of its own."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The system counts kilobytes on Linux, bytes on macOS.
PER_MEGABYTE = 1024 if sys.platform != "darwin" else 1024**2


@dataclass(frozen=True)
class Cost:
    """Of a process.

    Attributes:
        seconds: as the process printed them, without its own start.
        megabytes: peak resident memory of the process since it started this program.
    """

    seconds: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.megabytes:.0f} MB"


def spawned(
    output: Path | str, *arguments: str, environment: Mapping[str, str] | None = None
) -> resource.struct_rusage:
    """What ``python -m arguments`` used, its output going to a file.

    Args:
        environment: of the process; by default that of this one.

    Raises:
        RuntimeError: if the process fails.
    """
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", *arguments],
        dict(os.environ if environment is None else environment),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, str(output), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    _, status, usage = os.wait4(child, 0)
    if (code := os.waitstatus_to_exitcode(status)) != 0:
        raise RuntimeError(f"python -m {' '.join(arguments)} ended with status {code}")
    return usage


def cost_of(module: str, *arguments: str) -> Cost:
    """Of ``python -m module arguments``, which ends with `print_cost` and prints nothing else.

    Raises:
        RuntimeError: if the process fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "cost"
        spawned(answer, module, *arguments)
        return Cost(*map(float, answer.read_text().split()))


def run_megabytes(steps: int) -> float:
    """Peak resident memory of a whole run of PT-DMALA with every metric; includes that of this process.

    Raises:
        RuntimeError: if the run fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        sampler = ("sampler=pt_dmala", "sampler.ladder=[1.0,0.25,0.0]", "sampler.step_size=[26,120,10000]")
        task = ("target=mog", "task.chains=20", f"task.steps={steps}", f"output_root={folder}")
        return spawned(os.devnull, "runner", *sampler, *task).ru_maxrss / PER_MEGABYTE


def print_cost(work: Callable[[], object]) -> None:
    """Does `work` and prints what `cost_of` reads in the parent."""
    start = time.perf_counter()
    work()
    print(time.perf_counter() - start, _peak_megabytes())


def _peak_megabytes() -> float:
    """Peak resident memory of this program; what the system reports to a parent includes the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return float(lines["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / PER_MEGABYTE


def printed_json(*arguments: str, environment: Mapping[str, str]) -> Any:
    """What ``python -m arguments`` prints as JSON, with `environment` beside that of this process.

    Raises:
        RuntimeError: if the process fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        spawned(answer, *arguments, environment={**os.environ, **environment})
        return json.loads(answer.read_text())
