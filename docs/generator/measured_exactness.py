"""What `python -m runner.exactness` finds of each sampler, measured once for each state of the code."""

from __future__ import annotations

import csv
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

FOLDERS = (
    *("samplers", "targets", "metrics/enumeration", "runner/tools/exactness"),
    *("conf/sampler", "conf/tempering"),
)
"""What the numbers depend on."""

FEW_DRAWS = """
import sys
from runner.tools.exactness.exactness_command import main
sys.exit(main(sys.argv[1:], draws=2_000))
"""
"""The pages show what is enumerated; steps are drawn in full by `make exactness`."""


@dataclass
class Exactness:
    """One sampler.

    Attributes:
        claimed: whether it claims to leave its target invariant.
        spaces: kinds of spaces on which it was enumerated, such as ``binary``.
        error: the largest ``max |pi P - pi|``; None where nothing could be enumerated.
        bias: the largest total variation of an inexact sampler's stationary distribution to the target.
        reasons: why it was not enumerated on the other spaces.
    """

    claimed: bool = False
    spaces: list[str] = field(default_factory=list)
    error: float | None = None
    bias: float | None = None
    reasons: list[str] = field(default_factory=list)


def measured(root: Path) -> dict[str, Exactness]:
    """Every sampler of conf/sampler by its name."""
    path = root / "build" / "docs" / f"exactness-{_state(root)}.csv"
    if not path.exists():
        _measure(root, path)
    with path.open(newline="") as file:
        return summaries(csv.DictReader(file))


def summaries(rows: Iterable[dict[str, str]]) -> dict[str, Exactness]:
    """The rows of ``exactness.csv``, all settings of a sampler joined."""
    found: dict[str, Exactness] = {}
    for row in rows:
        one = found.setdefault(row["sampler"].split(",")[0].split(" ")[0], Exactness())
        if int(row["checked"]):
            one.claimed = one.claimed or row["claimed"] == "True"
            kind = row["space"].split(" ")[0]
            if kind not in one.spaces:
                one.spaces.append(kind)
            if row["claimed"] == "True":
                one.error = max(one.error or 0.0, float(row["error"]))
            if row["highest_tv"]:
                one.bias = max(one.bias or 0.0, float(row["highest_tv"]))
        else:
            one.reasons.append(row["left_out"])
            one.claimed = one.claimed or (row["claimed"] == "True" and one.error is None)
    return found


def _measure(root: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = path.parent / "measuring"
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", FEW_DRAWS, f"output_root={folder}"]
    subprocess.run(command, cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)
    (folder / "exactness" / "exactness.csv").replace(path)


def _state(root: Path) -> str:
    """A hash of the files that decide the numbers."""
    digest = hashlib.sha256()
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".py", ".yaml"):
                digest.update(str(file.relative_to(root)).encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
