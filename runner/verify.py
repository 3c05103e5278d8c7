"""Checks whether the results on disk are what was written; computes none of them and changes nothing.

``python -m runner.verify [EXPERIMENT] [output_root=DIR ...]``

Without an experiment every file of the output root is checked. Exit status 0 where nothing is damaged, 1
where something is, 2 for a mistake in the command.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from runner.config.output_root import results_of
from runner.execution.command_line import ExperimentParser, reporting
from runner.execution.errors import counted
from runner.store.run_store import Store
from runner.store.verification import ROOMS, SUFFIXES, Verification, verify

MODEL = "model.safetensors"
"""The file of a model, where a summary names its folder."""


def places_of_store(overrides: Sequence[str]) -> list[Path]:
    """The folders of results below ``output_root=DIR``, or else ``outputs``.

    Raises:
        UserError: for another key, or a folder that is not there.
    """
    root = results_of(overrides, "A whole store is verified with")
    return [root / room for room in ROOMS]


def places_of_experiment(experiment: str, overrides: Sequence[str]) -> list[Path]:
    """The folders of the runs of an experiment, and the tuned results and models that finished ones name.

    A tuned result or a model that is not there is named by its file.

    Raises:
        UserError: for an unknown experiment, or an override that does not fit.
    """
    from runner.sweep.jobs import experiment_jobs

    places: dict[Path, None] = {}
    for job in experiment_jobs(experiment, overrides):
        store = Store(job.config.output_root)
        for folder in (store.run(run_id) for run_id in job.run_ids.values()):
            summary = folder.standing()[1] or {}
            used = [folder.path] if folder.path.exists() else []
            used += [store.tuning(summary["tuning"]["artefact"])] if summary.get("tuning") else []
            used += [_model(store, Path(summary["model"]))] if summary.get("model") else []
            places |= dict.fromkeys(used)
    return list(places)


def _model(store: Store, written: Path) -> Path:
    """The folder of the model that a summary names, in the store where results were moved; else its file."""
    file = written if written.suffix in SUFFIXES else written / MODEL
    own = store.model(file.parent.name)
    for folder in (own, file.parent):
        if (folder / file.name).exists():
            return folder
    return own / file.name if file.parent.parent.name == own.parent.name else file


def sentences(found: Verification, seconds: float) -> list[str]:
    """What was found: a line for each damaged file, and what was checked."""
    lines = [f"damaged: {path}" for path in found.damaged]
    runs = counted(found.runs, "finished run")
    number = {0: "none is", 1: "1 of them is"}.get(len(found.damaged), f"{len(found.damaged)} of them are")
    lines.append(
        f"{counted(found.files, 'file')} of {runs} and what they share were checked in {seconds:.1f} s; "
        f"{number} damaged."
    )
    if found.unknown:
        models = counted(found.unknown, "model")
        lines.append(f"{models} of another program without a digest can be read, not checked.")
    lines += found.unfinished
    if found.damaged:
        lines.append(
            "Repeating the command of a damaged run computes it again. A damaged model is made again when a "
            "run that is not done needs it; to force that, remove the file."
        )
    return lines


@reporting
def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = ExperimentParser("runner.verify", __doc__, any_runs=False)
    parser.statuses = {0: "nothing is damaged", 1: "a result is damaged, or could not be read"}
    parser.usage = f"{parser.prog} [EXPERIMENT] [key=value ...] [--config-dir DIR]"
    words, started = parser.parse_intermixed_args(argv).words, time.monotonic()
    if words and "=" not in words[0]:
        experiment, overrides, _ = parser.experiment(argv)
        places = places_of_experiment(experiment, overrides)
    else:
        places = places_of_store(words)
    found = verify(places)
    print("\n".join(sentences(found, time.monotonic() - started)))
    return 1 if found.damaged else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
