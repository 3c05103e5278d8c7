"""Cost of the command line: start, refusal of a mistake, overhead of a sweep, runs that are done."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from runner.tools.bench.report.synthetic_runs import planned_runs, synthetic_records, write_run
from runner.tools.bench.timing import BenchRows

EXPERIMENT = "pt_table1"
HEAVY = ("torch", "numpy", "scipy", "pandas", "matplotlib", "hydra")
"""Packages whose import is counted."""

IMPORT = re.compile(r"import time: +(\d+) \| +\d+ \| +(\w+)")
"""A line of ``-X importtime``: microseconds of a module without those that it imports, and its package."""

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""With it, as some containers set it, modules are compiled and configurations composed at every start."""


def _run(
    *arguments: str, module: str = "runner", flags: tuple[str, ...] = ()
) -> tuple[float, subprocess.CompletedProcess[str]]:
    kept = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
    command = [sys.executable, *flags, "-m", module, *arguments]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=kept)
    return time.perf_counter() - start, done


def _least(*arguments: str, module: str = "runner", times: int = 3) -> float:
    return min(_run(*arguments, module=module)[0] for _ in range(times))


def _imports(*arguments: str, module: str = "runner") -> str:
    """Seconds that the packages in `HEAVY` take to import, those that they import themselves not included."""
    _, done = _run(*arguments, module=module, flags=("-X", "importtime"))
    seconds = dict.fromkeys(HEAVY, 0.0)
    for microseconds, package in IMPORT.findall(done.stderr):
        if package in seconds:
            seconds[package] += 1e-6 * float(microseconds)
    return ", ".join(f"{name} {took:.2f} s" for name, took in seconds.items() if took) or "none"


def start_up_rows(bench: BenchRows, runs: int) -> None:
    """Times ``--help``, mistakes, one run, the overhead of each further run of a sweep, and what is done.

    All are wall clock of whole processes. The overhead is that of a sweep of 1 + `runs` configurations of one
    seed less that of one, less the sampling seconds that the runs report, divided by `runs`.
    """
    seconds = _least("--help")
    bench.limited("python -m runner --help", f"{seconds:.2f} s", seconds, 2, " s")
    seconds = _least("target=bernoulli4", "task.chains=0")
    bench.limited("a wrong value is refused", f"{seconds:.2f} s", seconds, 0.6, " s")
    refusals = [_run("target=mgo") for _ in range(3)]
    seconds, status = min(seconds for seconds, _ in refusals), refusals[0][1].returncode
    bench.add("a mistyped override is refused", f"{seconds:.2f} s, status {status}", "2", status == 2)
    with tempfile.TemporaryDirectory() as folder:
        small = ("target=bernoulli4", "sampler=gibbs", "task.steps=100", f"output_root={folder}/small")
        seconds = min(_run(*small, f"seed={seed}")[0] for seed in range(3))
        bench.limited("one small run, from the shell", f"{seconds:.2f} s", seconds, 2.5, " s")
        bench.add("imports of that run", _imports(*small, "seed=3"))
        # Numbers of steps, not seeds: those of one configuration would be one batch.
        common = ["target=bernoulli4", "sampler=gibbs"]
        first, one = _run("-m", *common, f"output_root={folder}/one", "task.steps=100")
        sweep, many = _run("-m", *common, f"output_root={folder}/many", f"task.steps=range(100,{101 + runs})")
        sampling = _sampling_seconds(Path(folder) / "many", runs + 1, many)
        sampling_first = _sampling_seconds(Path(folder) / "one", 1, one)
    overhead = (sweep - first - (sampling - sampling_first)) / runs
    bench.add("one run of a sweep, from the shell", f"{first:.2f} s")
    bench.limited("a sweep's overhead per further run", f"{overhead:.3f} s", overhead, 0.1, " s")
    with tempfile.TemporaryDirectory() as folder:
        _done_rows(bench, Path(folder))


def _done_rows(bench: BenchRows, root: Path) -> None:
    """Times a repeated experiment and its table, on runs that nobody computed."""
    planned = planned_runs(root, EXPERIMENT)
    for place, (run, config) in enumerate(planned):
        write_run(run, config, synthetic_records(place), visits=True)
    of_all = ("scale=quick", f"output_root={root}")
    again = ("-m", f"+experiment={EXPERIMENT}", *of_all)
    seconds = _least(*again)
    bench.limited(f"{len(planned)} runs that are done say so", f"{seconds:.2f} s", seconds, 1.5, " s")
    bench.add("imports of that command", _imports(*again))
    seconds = _least(EXPERIMENT, *of_all, module="runner.table")
    bench.limited("their table and its figures", f"{seconds:.2f} s", seconds, 3, " s")
    bench.add("imports of that table", _imports(EXPERIMENT, *of_all, module="runner.table"))


def _sampling_seconds(root: Path, expected: int, done: subprocess.CompletedProcess[str]) -> float:
    summaries = list(root.glob("runs/*/summary.json"))
    if len(summaries) != expected:
        output = (done.stdout + done.stderr)[-500:]
        raise RuntimeError(f"{len(summaries)} of {expected} runs were done under {root}: {output}")
    return sum(float(json.loads(path.read_text())["seconds"]) for path in summaries)
