"""The command that makes the table of an experiment's page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import conf
from runner.config.output_root import DEFAULT, output_root_word
from runner.config.overrides import EXPERIMENT
from runner.site.content.experiment_places import Place


def making(place: Place, manifest: Mapping[str, Any], hydra: Sequence[str] = ()) -> str:
    """``make pt-table1 SCALE=quick``; for what make does not know the command of the runs.

    A name such as ``paper-mnist`` is that of a scale with some of the runs: ours comes before the hyphen.

    Args:
        manifest: of the record, with the overrides that chose its runs; empty where there is none.
        hydra: overrides of Hydra itself, which say where else experiments are.
    """
    ours, named = place.scale.partition("-")[0], _is_ours("scale", place.scale)
    scale = ours if not named and _is_ours("scale", ours) else place.scale
    overrides = [f"scale.name={place.scale}"] * (scale != place.scale)
    overrides += [str(line) for line in manifest.get("overrides") or []]
    if not _is_ours(EXPERIMENT, place.experiment) or not _is_ours("scale", scale):
        words = ["run", "-m", *hydra, f"+{EXPERIMENT}={place.experiment}", f"scale={scale}", *overrides]
        root = place.tables.parents[2]  # of root/tables/experiment/scale
        if root.resolve() != DEFAULT.resolve():
            words.append(output_root_word(root))
        return shlex.join(["rungwise", *words])
    further = f" ARGS={shlex.quote(shlex.join(overrides))}" if overrides else ""
    return f"make {place.experiment.replace('_', '-')} SCALE={scale}{further}"


def _is_ours(group: str, name: str) -> bool:
    return (Path(conf.__path__[0]) / group / f"{name}.yaml").is_file()
