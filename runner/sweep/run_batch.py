"""Which runs of a job are computed together, and the checkpoint that they share.

A group's checkpoint lies in the folder of its first run and names all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.execution.atomic_files import set_aside
from runner.execution.checkpoint import UnusableCheckpointError, load
from runner.execution.errors import warn
from runner.store.run_store import RunFolder
from runner.tasks.sample import Sampling


@dataclass
class Group:
    """Runs that are one batch.

    Attributes:
        folders: run folder by seed, in the order of the batch.
        saved: what their checkpoint holds, if there is one.
    """

    folders: dict[int, RunFolder]
    saved: Mapping[str, Any] | None = None

    @property
    def seeds(self) -> list[int]:
        """The seeds, in the order of the batch."""
        return list(self.folders)

    @property
    def run_ids(self) -> list[str]:
        """The ids, in the order of the batch."""
        return [folder.run_id for folder in self.folders.values()]

    @property
    def checkpoint(self) -> Path:
        """Where the group is saved."""
        return next(iter(self.folders.values())).checkpoint

    def restore(self, run: Sampling) -> None:
        """Brings `run` to where the checkpoint was; an unusable one is set aside and the run starts anew."""
        if self.saved is None:
            return
        fresh = run.state, run.streams.state_dict(), run.suite.state_dict()
        try:
            run.load_state_dict(self.saved)
        except UnusableCheckpointError as unusable:
            refuse(self.checkpoint, str(unusable))
            self.saved = None
            run.state = fresh[0]
            run.streams.load_state_dict(fresh[1])
            run.suite.load_state_dict(fresh[2])
            run.step, run.evaluations, run.records = 0, 0, []
            run.seconds = run.wall_seconds = 0.0


def next_group(
    folders: Mapping[int, RunFolder], left: Mapping[int, RunFolder], *, together: bool = True
) -> Group:
    """A batch of runs that are `left`: one that has a checkpoint, or else all that have none.

    A checkpoint may also name runs of this job that are done (the process was killed while it wrote the
    results of the batch); they are computed again with the others and their results stay as they are.

    Args:
        folders: all runs of the job by seed.
        left: those that are not done, whose locks this process holds.
        together: whether runs may share a batch; if not, a batch is one run.
    """
    by_id = {folder.run_id: seed for seed, folder in folders.items()}
    for folder in folders.values():
        path = folder.checkpoint
        if not path.exists():
            continue
        try:
            saved = load(path)
            names = saved.get("run_ids", [folder.run_id])  # of a per-seed task: its own
            seeds = [by_id[name] for name in names if name in by_id]
            if len(seeds) < len(names) or not seeds or folders[seeds[0]] is not folder:
                raise UnusableCheckpointError("belongs to other runs")
        except UnusableCheckpointError as unusable:
            if folder.run_id in {mine.run_id for mine in left.values()}:
                refuse(path, str(unusable))
            continue
        if any(seed in left for seed in seeds) and all(
            seed in left or folders[seed].summary() is not None for seed in seeds
        ):
            return Group({seed: folders[seed] for seed in seeds}, saved)
        if folder.run_id in {mine.run_id for mine in left.values()}:
            refuse(path, "belongs to runs of which another process has some")
    return Group(dict(left) if together else dict([next(iter(left.items()))]))


def refuse(path: Path, why: str) -> None:
    """Sets a checkpoint aside and says so."""
    warn(
        f"the checkpoint {path} cannot be used: it {why}; it was moved to {set_aside(path)}, "
        "the run starts from the beginning."
    )
