"""Whether memory grows with the number of steps: peak resident size of two runs of different length."""

from __future__ import annotations

import os
import sys
import tempfile


def run_megabytes(steps: int) -> float:
    """Peak resident memory of a whole run of PT-DMALA with every metric, in MB."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "runner", "target=mog", "sampler=pt_dmala", "task.chains=20",
            "sampler.ladder=[1.0,0.25,0.0]", "sampler.step_size=[26,120,10000]",
            f"task.steps={steps}", f"output_root={folder}",
        ]  # fmt: skip
        child = os.posix_spawn(
            sys.executable,
            command,
            dict(os.environ),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
        _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"the run of {steps} steps ended with status {os.waitstatus_to_exitcode(status)}")
    # Linux counts kilobytes, macOS bytes.
    return usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
