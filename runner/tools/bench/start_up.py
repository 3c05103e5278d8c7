"""Cost of the command line: start, refusal of a mistake, and overhead of each run of a sweep."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from runner.tools.bench.timing import BenchRows


def _run(*arguments: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "runner", *arguments], capture_output=True, text=True, check=False
    )
    return time.perf_counter() - start, done


def start_up_rows(bench: BenchRows, runs: int) -> None:
    """Times ``--help``, a mistyped override, one run, and the overhead of each further run of a sweep.

    All are wall clock of whole processes. The overhead is that of a sweep of 1 + `runs` configurations of one
    seed less that of one, less the sampling seconds that the runs report, divided by `runs`.
    """
    seconds = min(_run("--help")[0] for _ in range(3))
    bench.limited("python -m runner --help", f"{seconds:.2f} s", seconds, 2, " s")
    refusals = [_run("target=mgo") for _ in range(3)]
    seconds, status = min(seconds for seconds, _ in refusals), refusals[0][1].returncode
    bench.add("a mistyped override is refused", f"{seconds:.2f} s, status {status}", "2", status == 2)
    with tempfile.TemporaryDirectory() as folder:
        # Step sizes, not seeds: those of one configuration would be one batch.
        common = ["target=mog", "sampler=dmala", "scale=smoke"]
        first, one = _run("-m", *common, f"output_root={folder}/one", "sampler.step_size=20")
        step_sizes = ",".join(str(20 + place) for place in range(runs + 1))
        sweep, many = _run("-m", *common, f"output_root={folder}/many", f"sampler.step_size={step_sizes}")
        sampling = _sampling_seconds(Path(folder) / "many", runs + 1, many)
        sampling_first = _sampling_seconds(Path(folder) / "one", 1, one)
    overhead = (sweep - first - (sampling - sampling_first)) / runs
    bench.add("one run of a sweep, from the shell", f"{first:.2f} s")
    bench.limited("a sweep's overhead per further run", f"{overhead:.3f} s", overhead, 0.3, " s")


def _sampling_seconds(root: Path, expected: int, done: subprocess.CompletedProcess[str]) -> float:
    summaries = list(root.glob("runs/*/summary.json"))
    if len(summaries) != expected:
        output = (done.stdout + done.stderr)[-500:]
        raise RuntimeError(f"{len(summaries)} of {expected} runs were done under {root}: {output}")
    return sum(float(json.loads(path.read_text())["seconds"]) for path in summaries)
