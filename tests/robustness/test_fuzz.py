"""The command that gives random overrides works: its commands run, and end cleanly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_random_commands_end_cleanly() -> None:
    """In a process of its own: it forks, and threads of other tests would not be in its forks."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.robustness.fuzz", "--number", "3", "--seed", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "3 commands in" in done.stdout
