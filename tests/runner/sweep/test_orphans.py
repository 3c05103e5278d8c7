"""Workers whose command was killed end: the job under way is saved first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}

WORKER = """
import sys, time
from pathlib import Path
from runner.execution import signals
from runner.sweep.launchers.orphans import at_work
signals.listen()
with at_work(), signals.deferred():
    Path("at_work").touch()
    while not signals.stop_wanted() and "busy" in sys.argv:
        time.sleep(0.01)
    Path("saved").touch()
time.sleep(60)
"""

COMMAND = f"""
import subprocess, sys
from pathlib import Path
from runner.sweep.launchers.orphans import adopted
with adopted():
    worker = subprocess.Popen([sys.executable, "-c", {WORKER!r}, *sys.argv[1:]])
    Path("worker").write_text(str(worker.pid))
    worker.wait()
"""


def until(seconds: float, reached: Callable[[], bool]) -> bool:
    """Whether `reached` within so many seconds."""
    end = time.monotonic() + seconds
    while not reached() and time.monotonic() < end:
        time.sleep(0.05)
    return reached()


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that has ended and that nobody waits for is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed on Linux")


@pytest.mark.parametrize("how", ["busy", "idle"])
def test_a_worker_ends_with_its_command(tmp_path: Path, how: str) -> None:
    command = subprocess.Popen([sys.executable, "-c", COMMAND, how], cwd=tmp_path, env=ENVIRONMENT)
    begun, saved = tmp_path / "at_work", tmp_path / "saved"
    assert until(120, begun.exists if how == "busy" else saved.exists)
    worker = int((tmp_path / "worker").read_text())
    assert is_running(worker)
    command.kill()
    command.wait()
    assert until(60, lambda: not is_running(worker))
    assert saved.exists()


@pytest.mark.slow
def test_workers_of_joblib_save_and_end_when_the_command_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="the extra joblib is not installed")
    argv = [
        *("-m", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "target=bernoulli4", "sampler=gibbs"),
        *("metric=acceptance", "task.chains=3,4,5", "task.steps=10000000", "task.record=0"),
    ]
    command = subprocess.Popen([sys.executable, "-m", "runner", *argv], cwd=tmp_path, env=ENVIRONMENT)
    runs = tmp_path / "outputs" / "runs"
    try:
        assert until(120, lambda: len(list(runs.glob("*/manifest.json"))) == 2)
        (children,) = {path.read_text() for path in Path(f"/proc/{command.pid}/task").glob("*/children")} - {
            ""
        }
    finally:
        command.send_signal(signal.SIGKILL)
        command.wait()
    assert until(120, lambda: not any(map(is_running, map(int, children.split()))))
    assert len(list(runs.glob("*/checkpoint.pt"))) == 2
    assert len(list(runs.glob("*"))) == 2
