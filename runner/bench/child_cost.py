"""Seconds and peak memory of something that runs in a process of its own."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """What it took.

    Attributes:
        seconds: as the process printed them, without its own start.
        megabytes: peak resident memory of the whole process.
    """

    seconds: float
    megabytes: float


def cost_of(module: str, *arguments: str) -> Cost:
    """Of ``python -m module arguments``, which prints seconds and nothing else.

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
        _, status, usage = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            raise RuntimeError(f"python -m {module} {' '.join(arguments)} ended with status {code}")
        seconds = float(answer.read_text())
    # Linux counts kilobytes, macOS bytes.
    return Cost(seconds, usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2))
