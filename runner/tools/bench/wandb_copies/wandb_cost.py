"""What copies in W&B cost: to send hundreds of runs, and to log one run while it goes on.

The server is another process on this computer, which speaks W&B's protocol; the client is the real one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runner.tools.bench.child_cost import spawned
from runner.tools.bench.report.synthetic_runs import write_grid
from runner.tools.bench.timing import BenchRows

MOST_SECONDS, MOST_PER_CENT = 40.0, 2.0
RUN_SECONDS = 60.0
"""Of the run whose share logging takes."""

KEY = "local-" + "0" * 40
"""Has the form of a key; a server on the loopback looks at none."""


def wandb_rows(bench: BenchRows, server: str, *, short: bool) -> None:
    """Times ``python -m runner.wandb_sync`` of 520 synthetic runs, and the logger beside a run of 60 s.

    The share is that of a run of 60 s with 8 recorded points: CPU time of the logger and of W&B's own
    process, and the time for which the logger holds the run. In place of the samples the process sleeps, as
    those would take more time than they vary by; a short bench sleeps for a tenth of that time.

    Args:
        server: the module that serves; it prints its address and ends with its input.
    """
    runs = 26 if short else 520
    with tempfile.TemporaryDirectory() as folder, _served(server, Path(folder)) as environment:
        root, said = Path(folder) / "store", Path(folder) / "said"
        write_grid(root, runs)
        start = time.perf_counter()
        spawned(said, "runner.wandb_sync", "runs", f"output_root={root}", environment=environment)
        seconds = time.perf_counter() - start
        if f"Copied {runs} runs (online)" not in said.read_text():
            raise RuntimeError(f"{runs} runs were not all sent: {said.read_text()}")
        bench.limited(
            f"{runs} runs sent to W&B on this computer", f"{seconds:.1f} s", seconds, MOST_SECONDS, " s"
        )
        slept = RUN_SECONDS / 10 if short else RUN_SECONDS
        arguments = ("runner.tools.bench.wandb_copies.logged_run", f"{folder}/live", f"{slept:g}")
        spawned(said, *arguments, environment=environment)
        for what, each in zip(("CPU time", "time held up"), said.read_text().split(), strict=True):
            share = 100 * float(each) / RUN_SECONDS
            name = f"logging to W&B, {what} of a run of {RUN_SECONDS:g} s"
            value = f"{share:.1f} % ({float(each):.2f} s{f', over {slept:g} s' if short else ''})"
            bench.limited(name, value, share, MOST_PER_CENT, " %")


@contextmanager
def _served(module: str, folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a client of the server, which runs meanwhile.

    Raises:
        RuntimeError: if it does not start.
    """
    command = [sys.executable, "-m", module]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        if not (url := server.stdout.readline().strip()).startswith("http"):
            raise RuntimeError(f"python -m {module} did not say where it serves")
        own = {f"WANDB_{name}_DIR": f"{folder}/{name.lower()}" for name in ("CONFIG", "CACHE", "DATA")}
        others = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
        yield {**others, **own, "WANDB_BASE_URL": url, "WANDB_API_KEY": KEY, "NETRC": f"{folder}/netrc"}
        server.stdin.close()
