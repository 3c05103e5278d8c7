"""The runs that a command names by conditions: ``runs target=mog sampler=dmala,acs output_root=DIR``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.config.output_root import names_root, output_root_word
from runner.config.output_root import output_root as root_of
from runner.config.sources.edited_files import forget_files
from runner.execution.command_line import SEARCH_PATH, with_config_dir
from runner.execution.errors import UserError, counted, warn
from runner.library.of_experiments import under_experiments
from runner.report.selection.conditions import chosen_by, values_instead
from runner.report.selection.stored_runs import StoredRun, lost_runs, runs_frame, stored_runs
from runner.store.run_folder import LEFT_OUT, RunFolder
from targets.checks import described

if TYPE_CHECKING:
    import pandas as pd

RUNS = "runs"
"""In the place of an experiment's name: any runs, chosen by conditions."""


@dataclass(frozen=True)
class Selection:
    """The runs of one output root that fit some conditions.

    Attributes:
        lost: runs that are damaged or cannot be read now, without a readable configuration: they may fit.
    """

    root: Path
    conditions: list[str]
    runs: list[StoredRun]
    lost: list[RunFolder]

    @property
    def title(self) -> str:
        """The conditions, as they were given."""
        return " ".join(self.conditions) or "all runs"

    def left_out(self) -> Iterator[RunFolder]:
        """Those that are damaged or cannot be read now, also those of which nobody knows whether they fit."""
        yield from (run.folder for run in self.runs if run.status in LEFT_OUT)
        yield from self.lost


def selected_runs(lines: Sequence[str]) -> Selection:
    """The runs that fit all conditions among `lines`, at least one; ``output_root=DIR`` says where they are.

    Raises:
        UserError: for a condition that cannot be read, or where no run fits.
    """
    found, known = _fitting(lines)
    if not found.runs:
        several = f"None of the {len(known)} runs under {found.root} fits"
        said = several if len(known) != 1 else f"The only run under {found.root} does not fit"
        said = f"{said} {' '.join(found.conditions)}"
        instead = values_instead(found.conditions, known)
        raise UserError(f"{said}{instead and f': {instead}'}.")
    return found


def load_runs(
    *conditions: str, output_root: str | Path | None = None, config_dir: str | Path | None = None
) -> pd.DataFrame:
    """The runs under `output_root` that fit all `conditions`, one row each, with settings and final metrics.

    ``load_runs("target=mog", "sampler=dmala,acs")`` is what ``python -m runner.table runs target=mog
    sampler=dmala,acs`` shows, and no row where no run fits. ``experiment=NAME`` is about all runs that the
    experiment needs, also those that another command computed. A warning says how many runs are left out
    because their configuration cannot be read.

    Args:
        output_root: where the runs are; by default ``outputs``, or what a condition ``output_root=DIR`` says.
        config_dir: the folder of an experiment of your own, as ``--config-dir``.

    Returns:
        A frame with the columns ``run_id``, ``status``, ``experiment``, ``seed``, every setting by its dotted
        key (``sampler.step_size``), what was tuned (``tuned.step_size``), the metrics by their names, and the
        costs ``steps``, ``evaluations``, ``seconds`` and ``wall_seconds``. A value that a run does not
        have is missing, one that is NaN or infinite is there as that. Without a row there are the first four
        columns and the costs.

    Raises:
        TypeError: if a condition is no text.
        UserError: for a condition that cannot be read, a key that no run has, or a folder without runs.
    """
    for given in conditions:
        if not isinstance(given, str):
            raise TypeError(f"conditions are texts, as load_runs('target=mog'); {described(given)} was given")
    forget_files()
    lines = [*with_config_dir([], config_dir), *conditions]
    if output_root is not None:
        lines.append(output_root_word(output_root))
    found, _ = _fitting(lines)
    if found.lost:
        runs, are = counted(len(found.lost), "run"), "is" if len(found.lost) == 1 else "are"
        warn(f"{runs} whose config.yaml cannot be read {are} left out, such as {found.lost[0].path}.")
    return runs_frame(found.runs)


def _fitting(lines: Sequence[str]) -> tuple[Selection, list[StoredRun]]:
    """The runs that fit all conditions among `lines`, and all that they were chosen from.

    Raises:
        UserError: for a condition that cannot be read, or where there are no runs.
    """
    root = root_of(lines)
    hydra = [line for line in lines if line.startswith(SEARCH_PATH)]
    conditions = [line for line in lines if not names_root(line) and line not in hydra]
    stored = stored_runs(root)
    if not stored:
        if lost := lost_runs(root, stored):
            said = f"No config.yaml of the runs under output_root={root} can be read"
            raise UserError(f"{said}, such as that of {lost[0].path}.")
        raise UserError(f"There are no runs under output_root={root}.")
    known = under_experiments(stored, conditions, hydra)
    runs = chosen_by(conditions, known)
    return Selection(root, conditions, runs, lost_runs(root, stored)), known
