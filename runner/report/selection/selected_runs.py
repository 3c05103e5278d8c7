"""The runs that a command names by conditions: ``runs target=mog sampler=dmala,acs output_root=DIR``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.execution.errors import UserError
from runner.report.selection.conditions import chosen_by
from runner.report.selection.stored_runs import StoredRun, stored_runs

RUNS = "runs"
"""In the place of an experiment's name: any runs, chosen by conditions."""

ROOT = "output_root="


@dataclass(frozen=True)
class Selection:
    """Runs of one output root, at least one, and the conditions that they fit."""

    root: Path
    conditions: list[str]
    runs: list[StoredRun]

    @property
    def title(self) -> str:
        """The conditions, as they were given."""
        return " ".join(self.conditions) or "all runs"


def selected_runs(lines: Sequence[str]) -> Selection:
    """The runs that fit all conditions among `lines`; ``output_root=DIR`` says where they are.

    Raises:
        UserError: for a condition that cannot be read, or where no run fits.
    """
    places = [line.removeprefix(ROOT) for line in lines if line.startswith(ROOT)]
    root = Path(places[-1] if places else "outputs")
    conditions = [line for line in lines if not line.startswith(ROOT)]
    stored = stored_runs(root)
    if not stored:
        raise UserError(f"There are no runs under output_root={root}.")
    runs = chosen_by(conditions, stored)
    if not runs:
        raise UserError(f"None of the {len(stored)} runs under {root} fits {' '.join(conditions)}.")
    return Selection(root, conditions, runs)
