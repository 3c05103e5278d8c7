"""Cost of the command line: start, refusal of a mistake, and overhead of each run of a sweep."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


def _run(*arguments: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "runner", *arguments], capture_output=True, text=True, check=False
    )
    return time.perf_counter() - start, done


@dataclass(frozen=True)
class CommandLine:
    """Seconds, all of them wall clock of whole processes except `overhead`, which is per run."""

    help: float
    refusal: float
    refusal_status: int
    first_run: float
    overhead: float


def measure(runs: int = 10) -> CommandLine:
    """Times ``--help``, a mistyped override, one run, and the overhead of each further run of a sweep.

    The overhead is the wall clock of a sweep of 1 + `runs` configurations of one seed less that of one,
    less the sampling seconds that the runs report, divided by `runs`.
    """
    help_seconds = min(_run("--help")[0] for _ in range(3))
    refusals = [_run("target=mgo") for _ in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        # Step sizes, not seeds: those of one configuration would be one batch.
        common = ["target=mog", "sampler=dmala", "scale=smoke"]
        first, _ = _run("-m", *common, f"output_root={folder}/one", "sampler.step_size=20")
        step_sizes = ",".join(str(20 + place) for place in range(runs + 1))
        sweep, done = _run("-m", *common, f"output_root={folder}/many", f"sampler.step_size={step_sizes}")
        sampling = _sampling_seconds(
            Path(folder) / "many", expected=runs + 1, output=done.stdout + done.stderr
        )
        sampling_first = _sampling_seconds(Path(folder) / "one", expected=1, output="")
    return CommandLine(
        help=help_seconds,
        refusal=min(seconds for seconds, _ in refusals),
        refusal_status=refusals[0][1].returncode,
        first_run=first,
        overhead=(sweep - first - (sampling - sampling_first)) / runs,
    )


def _sampling_seconds(root: Path, expected: int, output: str) -> float:
    summaries = list(root.glob("runs/*/summary.json"))
    if len(summaries) != expected:
        raise RuntimeError(f"{len(summaries)} of {expected} runs were done under {root}: {output[-500:]}")
    return sum(float(json.loads(path.read_text())["seconds"]) for path in summaries)
