"""Computes a case, or an experiment, in a folder of its own and reads what it leaves there."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.golden import entry, reading
from tests.golden.cases import SOLVED_EXPERIMENTS, Case
from tests.golden.files import write
from tests.golden.reading import Result, Section

OUTPUTS = "outputs"
"""The output root, relative to the folder in which commands run."""

UNSHOWN = ("seed=", "output_root=", "scale=", "scale.record=", "+experiment=", "device=")
"""Overrides that are not part of a job's label."""


class GoldenError(Exception):
    """A command failed."""


class StoppedError(Exception):
    """The process was asked to stop."""


def compute(case: Case, folder: Path, device: str = "cpu") -> Result:
    """What `case` gives, computed on `device` in `folder`, which is empty.

    Raises:
        GoldenError: if one of its commands fails.
        StoppedError: if the process is asked to stop.
    """
    found: Result = {}
    root = folder / OUTPUTS
    with entry.at(folder):
        for name in case.files:
            write(name, folder)
        known: set[str] = set()
        for place, argv in enumerate(case.commands):
            words = [*_filled(argv, root), f"device={device}"]
            checked(entry.command(words), " ".join(words))
            before = f"command {place + 1}, " if len(case.commands) > 1 else ""
            new = reading.runs_in(root) - known
            known |= new
            for seed, run in sorted((_seed(root, run), run) for run in new):
                for section, values in reading.run(root, run).items():
                    found[f"{before}seed {seed}, {section}"] = values
    of_runs = [section for name, section in found.items() if name.endswith(", tuned")]
    for place, section in enumerate(each for each in reading.tuning_results(root) if each not in of_runs):
        found[f"tuned besides, {place + 1}"] = section
    if shared := reading.shared(root):
        found["shared"] = shared
    return found


def compute_experiment(name: str, folder: Path, device: str = "cpu") -> Result:
    """What an experiment gives at ``scale=smoke``; those that are computed in one `folder` share their runs.

    Every run has one section, named after its row, the overrides in which it differs from the row's other
    jobs, and its seed: the values of the last step, and digests of the rest. The table is drawn too, and its
    numbers are kept as digests where they have the same bits each time.

    Raises:
        GoldenError: if a command fails.
        StoppedError: if the process is asked to stop.
    """
    root = folder / OUTPUTS
    how = ["scale=smoke", "scale.record=0", f"output_root={OUTPUTS}", f"device={device}"]
    found: Result = {}
    with entry.at(folder):
        checked(entry.command(["-m", f"+experiment={name}", *how]), name)
        jobs = entry.jobs(name, how)
        labels = _labels([(row, overrides) for row, overrides, _ in jobs])
        for label, (_, _, ids) in zip(labels, jobs, strict=True):
            for seed, run in ids.items():
                section = f"{label}, seed {seed}"
                if section in found:
                    raise GoldenError(f"{name} has two runs called '{section}'.")
                found[section] = _condensed(reading.run(root, run))
        checked(entry.table([name, *how]), f"the table of {name}")
    path = root / "tables" / name / "smoke" / "table.csv"
    return found | (reading.table(path) if name in SOLVED_EXPERIMENTS else {"table": reading.cells(path)})


def checked(ended: entry.Ended, what: str) -> None:
    """Raises the error of a command that failed or was asked to stop."""
    if ended.status == entry.STOPPED:
        raise StoppedError
    if ended.status:
        raise GoldenError(f"status {ended.status}: {what}\n{ended.err.strip()}")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is removed in the end."""
    with tempfile.TemporaryDirectory(prefix="golden-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _filled(argv: Sequence[str], root: Path) -> list[str]:
    """The words of a command, with the one model that an earlier command made in place of ``{model}``."""
    if not any("{model}" in word for word in argv):
        return [*argv]
    (model,) = (path.parent.relative_to(root.parent) for path in root.glob("models/*/model.safetensors"))
    return [word.replace("{model}", str(model)) for word in argv]


def _seed(root: Path, run: str) -> int:
    return int(reading.run(root, run)["labels"]["seed"])


def _condensed(run: Mapping[str, Section]) -> Section:
    """One section of a run: labels, the metrics of the last step, and digests of all steps and the rest."""
    steps = [(name, section) for name, section in run.items() if name.startswith("step ")]
    found: Section = {**run["labels"], **(dict(steps[-1][1]) if steps else {})}
    if len(steps) > 1:
        kept = [(name, {k: v for k, v in step.items() if k not in reading.ADDED}) for name, step in steps]
        found["all steps"] = reading.digest_of(kept)
    for name in ("tuned", "files", "model"):
        if name in run:
            found[name] = reading.digest_of([(name, run[name])])
    return found


def _labels(jobs: Sequence[tuple[str, tuple[str, ...]]]) -> list[str]:
    """A label of each job: its row, and those overrides in which the jobs of its row differ."""
    of_row: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for row, overrides in jobs:
        of_row[row].append(overrides)
    labels = []
    for row, overrides in jobs:
        own = [line for line in overrides if not all(line in other for other in of_row[row])]
        shown = [line for line in own if not line.startswith(UNSHOWN)]
        labels.append(", ".join([row, *shown]))
    return labels
