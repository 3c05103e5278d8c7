"""Which runs of a job are computed together, and the checkpoint that they share.

It lies in the folder of the first run of the batch and names all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runner.execution.errors import RunError
from runner.files.checkpoint import UnusableCheckpointError, load_checkpoint
from runner.files.resumable import discard_checkpoint
from runner.store.run_folder import RunFolder


class BatchElsewhereError(RunError):
    """Runs of an interrupted batch that cannot go on now; their checkpoint stays.

    Attributes:
        seeds: those of the runs that are left here.
        batch: the seeds of the whole batch; empty where another process is computing some of its runs.
    """

    def __init__(self, path: Path, seeds: Sequence[int], batch: Sequence[int] = ()) -> None:
        self.seeds, self.batch = seeds, batch
        whole = f"seed=[{','.join(map(str, batch))}]" if batch else "the same command"
        which = f"seed {seeds[0]} is" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))} are"
        super().__init__(
            f"The {which} part of an interrupted batch; go on with {whole}, "
            f"or remove its checkpoint {path} to start from the beginning."
        )


@dataclass
class RunBatch:
    """Runs that are one batch.

    Attributes:
        folders: run folder by seed, in the order of the batch.
    """

    folders: dict[int, RunFolder]

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
        """Where the batch is saved."""
        return next(iter(self.folders.values())).checkpoint


def next_batch(
    folders: Mapping[int, RunFolder],
    left: Mapping[int, RunFolder],
    *,
    together: Callable[[Sequence[int]], bool],
) -> RunBatch:
    """A batch of runs that are `left`: one that has a checkpoint, or else all that have none.

    A checkpoint may also name runs of this job that are done (the process was killed while it wrote the
    results of the batch); they are computed again with the others and their results stay as they are.

    Args:
        folders: all runs of the job by seed.
        left: those that are not done, whose locks this process holds.
        together: whether runs of these seeds may share a batch; if not, a batch is one run.

    Raises:
        BatchElsewhereError: if the checkpoint of a run that is left has runs that are not in this job,
            or that another process is computing.
    """
    by_id = {folder.run_id: seed for seed, folder in folders.items()}
    for folder in folders.values():
        path = folder.checkpoint
        if not path.exists():
            continue
        try:
            names = load_checkpoint(path).get("run_ids", [folder.run_id])  # of a per-seed task: its own
            seeds = [by_id[name] for name in names if name in by_id]
            if names[:1] != [folder.run_id]:
                raise UnusableCheckpointError("belongs to other runs")
            batch = [by_id.get(name, _seed(folder.path.parent / name)) for name in names]
            known = [seed for seed in batch if seed is not None]
            if len(known) < len(names):
                raise UnusableCheckpointError("belongs to other runs, some of which were removed")
        except UnusableCheckpointError as unusable:
            if by_id[folder.run_id] in left:
                discard_checkpoint(path, str(unusable))
            continue
        mine = [seed for seed in seeds if seed in left]
        whole = len(seeds) == len(names)
        if whole and mine and all(seed in left or folders[seed].summary() is not None for seed in seeds):
            return RunBatch({seed: folders[seed] for seed in seeds})
        if by_id[folder.run_id] in left:
            raise BatchElsewhereError(path, mine, () if whole else known)
    return RunBatch(dict(left) if together(list(left)) else dict([next(iter(left.items()))]))


def _seed(path: Path) -> int | None:
    """The seed of a run of another job; None where there is none that can be read."""
    config = RunFolder(path).config()
    return None if config is None else int(config["seed"])


def remove_spent_checkpoints(folders: Iterable[RunFolder]) -> None:
    """Removes checkpoints of batches whose runs are all done: their process was killed just then."""
    for folder in folders:
        with suppress(UnusableCheckpointError):
            names = load_checkpoint(folder.checkpoint).get("run_ids", [folder.run_id])
            if all((folder.path.parent / name / "summary.json").is_file() for name in names):
                folder.checkpoint.unlink(missing_ok=True)
