"""The commands that a page tells its reader: what makes its table, and what computes an experiment at all."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import conf
from runner.config.output_root import DEFAULT, ROOT, output_root_word
from runner.config.overrides import EXPERIMENT
from runner.report.page.kept_overrides import SCALE
from runner.site.content.experiment_places import Place


def making(place: Place, chosen: Sequence[str], hydra: Sequence[str] = ()) -> str:
    """``make pt-table1 SCALE=quick``; for what make does not know the command of the runs.

    Args:
        chosen: the overrides that say which runs the table is of; where they have no scale, its name says it.
        hydra: overrides of Hydra itself, which say where else experiments are.
    """
    lines = [*([] if any(line.startswith(SCALE) for line in chosen) else _scale(place.scale)), *chosen]
    scale = next((line for line in lines if line.startswith("scale=")), "")
    ours = _is_ours(EXPERIMENT, place.experiment) and _is_ours("scale", scale.removeprefix("scale="))
    words = _told_to_make(place.root) if ours else None
    if words is None:
        where = [*hydra, f"+{EXPERIMENT}={place.experiment}", *lines, *_elsewhere(place.root)]
        return shlex.join(["rungwise", "run", "-m", *where])
    further = [line for line in lines if line != scale]
    words += [f"ARGS={shlex.quote(shlex.join(further))}"] * bool(further)
    named = place.experiment.replace("_", "-")
    return " ".join(["make", named, scale.replace("scale=", "SCALE="), *words])


def rendering(place: Place, hydra: Sequence[str] = ()) -> str:
    """``rungwise table pt_table1 scale=quick``: what renders the table of the runs that are shown."""
    lines = [*hydra, *place.chosen, *_elsewhere(place.root)]
    return shlex.join(["rungwise", "table", place.experiment, *lines])


def starting(experiment: str, root: Path, hydra: Sequence[str] = ()) -> str:
    """What computes an experiment that has no results below `root`."""
    where = () if _is_ours(EXPERIMENT, experiment) else hydra
    words = ["-m", "runner", "-m", *where, f"+{EXPERIMENT}={experiment}", *_elsewhere(root)]
    return shlex.join(["python", *words])


def judging(root: Path) -> str:
    """What judges the recorded tables below `root`."""
    where = _elsewhere(root)
    return shlex.join(["rungwise", "verdicts", *where] if where else ["make", "verdicts"])


def _scale(name: str) -> list[str]:
    """``paper-mnist`` is the name of a scale with some of the runs: ours comes before the hyphen."""
    ours = name.partition("-")[0]
    if _is_ours("scale", name) or not _is_ours("scale", ours):
        return [f"scale={name}"]
    return [f"scale={ours}", f"scale.name={name}"]


def _elsewhere(root: Path) -> list[str]:
    """The override that says `root`, where results are not there by themselves."""
    return [output_root_word(root)] if root.resolve() != DEFAULT.resolve() else []


def _told_to_make(root: Path) -> list[str] | None:
    """The variable of make that says `root`; None where make would take another folder for it."""
    if not (words := _elsewhere(root)):
        return []
    # Make replaces its variables in it, and quotes it for the shell alone.
    plain = words[0] == f"{ROOT}{root}" and "$" not in words[0]
    return [f"OUTPUT={shlex.quote(str(root))}"] if plain else None


def _is_ours(group: str, name: str) -> bool:
    return (Path(conf.__path__[0]) / group / f"{name}.yaml").is_file()
