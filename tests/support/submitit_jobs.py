"""A sweep under way by submitit's own executor, whose jobs can be sent signals."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner.files.lock_holders import holder

ROOT = Path(__file__).parents[2]
LOCAL = "hydra/launcher=submitit_local"


def submitted(output: Path, *overrides: str) -> subprocess.Popen[str]:
    """The sweep under way by submitit's own executor, in a process that a signal can be sent to."""
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher", reason="the extra slurm is not installed")
    return subprocess.Popen(
        [sys.executable, "-m", "runner", *overrides, f"output_root={output}", LOCAL],
        cwd=output,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def logs(output: Path) -> str:
    """All that submitit's jobs below `output` have said."""
    return "".join(path.read_text() for path in sorted(output.glob("**/*_log.*")))


def at_work(output: Path, running: subprocess.Popen[str], but: int = 0) -> int:
    """The process, another one than `but`, that computes a run below `output`, once it has begun."""
    while running.poll() is None:
        for lock in output.glob("runs/*/lock"):
            who = holder(lock) if (lock.parent / "manifest.json").exists() else None
            if who is not None and who.pid != but:
                return who.pid
        time.sleep(0.02)
    raise AssertionError(running.communicate())


def beginning(output: Path, running: subprocess.Popen[str]) -> int:
    """The process of submitit's job below `output`, as it says its first word."""
    while running.poll() is None:
        if (found := re.search(r"Starting with .*job_id=(\d+)", logs(output))) is not None:
            # A job's id is that of the process that started it.
            return int(Path(f"/proc/{found[1]}/task/{found[1]}/children").read_text())
        time.sleep(0.01)
    raise AssertionError(running.communicate())
