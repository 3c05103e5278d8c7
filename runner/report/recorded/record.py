"""Copies a rendered table to outputs/record, with its seeds, digests, and how it was measured."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from runner.config.form import FOLDER
from runner.config.overrides import parse
from runner.execution.errors import UserError
from runner.execution.override_values import key_of
from runner.files.atomic_files import read_json, write_json, write_text
from runner.report.budget import budget, cost_of_runs
from runner.report.page.kept_overrides import besides_scale
from runner.report.recorded.extended_results import ExtendedResults
from runner.report.recorded.lost import check_nothing_lost, check_same_protocol
from runner.report.recorded.merged_manifest import OF_ATTEMPTS, distinct, merged
from runner.report.recorded.replaced import replaced, restored
from runner.report.recorded.said import SAID, said_by
from runner.report.recorded.seed_values import SEEDS, seed_values
from runner.report.runs.stored_results import Results
from runner.report.table_shape import TableShape
from runner.store.folder_digests import begin_changes, write_digests

RECORDED = {".csv", ".md", ".tex", ".png", ".pdf"}

OUTPUT_ROOT = re.compile(r" ('?)output_root=[^`]*?\1(?=[ `])")
"""What a command says of the folder that the runs were in, which nobody else has."""


def shareable(page: str) -> str:
    """The page of a table without the folder that its runs are in."""
    return OUTPUT_ROOT.sub("", page)


def manifest(
    experiment: str, scale: str, shape: TableShape, results: Results, overrides: Sequence[str]
) -> dict[str, Any]:
    """Commits, devices, threads and packages of the runs, budget, seconds, overrides and number of runs.

    ``units`` has the units of the metrics that the table shows in others than their own, and ``said`` what
    its page says of the runs, so that it can be rendered anew when they are gone.
    """
    found = [run.folder.manifest() for run in results.runs if run.summary is not None]
    manifests = [content for content in found if content is not None]
    own = results.added if isinstance(results, ExtendedResults) else results
    held = {
        "experiment": experiment,
        "scale": scale,
        "overrides": besides_scale(overrides),
        "units": {metric.metric: metric.scale for metric in shape.metrics if metric.scale != 1.0},
        "budget": budget(results.runs[0].config),
        SAID: said_by(shape, results),
        **cost_of_runs(own),
        **{key: distinct(each[key] for each in manifests if key in each) for key in OF_ATTEMPTS},
    }
    if not isinstance(results, ExtendedResults):
        return held
    return merged(results.manifest, held) | {"budget": results.manifest["budget"]}


def own_name(overrides: Sequence[str]) -> str | None:
    """What ``scale.name=`` gives a scale; None where it is not given, or cannot be the name of a folder.

    The jobs of a part may compose only with the overrides of its record, which is found by this name.
    """
    named = [each for each in parse(overrides) if each.key_or_group == "scale.name"]
    if not named or named[-1].is_sweep_override() or named[-1].is_delete() or named[-1].is_add():
        return None
    name = named[-1].value()
    return name if isinstance(name, str) and FOLDER.fullmatch(name) else None


def recorded_overrides(folder: Path, given: Sequence[str]) -> list[str]:
    """The overrides that chose the runs of the record in `folder`, but those of keys that `given` has too."""
    keys = {key_of(line) for line in given}
    kept: list[str] = (read_json(folder / "manifest.json") or {}).get("overrides", [])
    return [line for line in kept if key_of(line) not in keys]


def check_recordable(
    experiment: str, scale: str, results: Results, root: Path, overrides: Sequence[str]
) -> Path:
    """The folder below `root` in which `record` keeps `results`.

    Raises:
        UserError: if no run is done, so that there is nothing to record, the record that is there has what
            `results` lack or is of runs that other overrides changed, or `scale` has an underscore.
    """
    if results.done == 0:
        raise UserError(f"Experiment {experiment} has no finished run at scale {scale}: nothing to record.")
    if "_" in scale:
        raise UserError(
            f"A record is found by the scale in its name, in which _ is not allowed: scale.name={scale} was "
            f"given; use scale.name={scale.replace('_', '-')}."
        )
    folder = root / f"{experiment}_{scale}"
    restored(folder)
    check_nothing_lost(folder, scale, results)
    check_same_protocol(experiment, folder, scale, overrides)
    return folder


def record(
    experiment: str,
    scale: str,
    shape: TableShape,
    results: Results,
    rendered: Iterable[Path],
    root: Path,
    overrides: Sequence[str] = (),
) -> Path:
    """Copies the files `rendered` into ``root/<experiment>_<scale>``, beside seeds and a manifest.

    Files of the earlier record that are not among these are removed; a reading is none of them.

    Args:
        rendered: what was written of the table now; the kinds of `RECORDED` are kept.
        overrides: what the command of the table had besides the experiment; the manifest keeps those that
            choose runs.

    Raises:
        UserError: as of `check_recordable`.
    """
    folder = check_recordable(experiment, scale, results, root, overrides)
    folder.parent.mkdir(parents=True, exist_ok=True)
    files = [path for path in rendered if path.suffix in RECORDED]
    with replaced(folder) as new:  # what is cut short leaves the record as it is
        earlier = begin_changes(new)
        for path in files:
            if path.suffix == ".md":
                write_text(new / path.name, shareable(path.read_text(encoding="utf-8")))
            else:
                shutil.copyfile(path, new / path.name)
        write_text(new / SEEDS, seed_values(shape, results))
        write_json(new / "manifest.json", manifest(experiment, scale, shape, results, overrides))
        write_digests(new, [*(path.name for path in files), SEEDS, "manifest.json"], earlier)
    return folder
