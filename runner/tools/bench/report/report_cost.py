"""What the HTML report of thousands of runs takes: from nothing, and after one more run."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from runner.tools.bench.child_cost import PER_MEGABYTE, spawned
from runner.tools.bench.report.synthetic_runs import planned_runs, synthetic_records, write_grid, write_run
from runner.tools.bench.timing import BenchRows

EXPERIMENT = "pt_table1"
MOST_SECONDS, MOST_SECONDS_OF_ONE, MOST_MEGABYTES = 60.0, 3.0, 1000.0


def report_rows(bench: BenchRows, runs: int) -> None:
    """Times ``python -m runner.report`` of `runs` synthetic runs, wall clock of whole processes.

    The peak memory is that of the first, and at least that of this process.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_grid(root, runs)
        named = f"report of {runs:,} runs"
        seconds, megabytes = _made(root)
        bench.limited(f"{named}, from nothing", f"{seconds:.1f} s", seconds, MOST_SECONDS, " s")
        bench.limited(f"{named}, memory", f"{megabytes:.0f} MB", megabytes, MOST_MEGABYTES, " MB")
        write_grid(root, 1, first=runs)
        seconds, _ = _made(root)
        bench.limited(f"{named}, one run added", f"{seconds:.2f} s", seconds, MOST_SECONDS_OF_ONE, " s")
        *before, (last, its_config) = planned_runs(root, EXPERIMENT)
        for place, (run, config) in enumerate(before):
            write_run(run, config, synthetic_records(place), visits=True)
        _made(root)
        write_run(last, its_config, synthetic_records(len(before)), visits=True)
        seconds, _ = _made(root)
        name = f"{named} and {EXPERIMENT}, one run of that added"
        bench.limited(name, f"{seconds:.2f} s", seconds, MOST_SECONDS_OF_ONE, " s")


def _made(root: Path) -> tuple[float, float]:
    """Seconds and megabytes of the command."""
    start = time.perf_counter()
    used = spawned(os.devnull, "runner.report", f"output_root={root}")
    return time.perf_counter() - start, used.ru_maxrss / PER_MEGABYTE
