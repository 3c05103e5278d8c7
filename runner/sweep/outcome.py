"""The outcome of a job, and the summary of a sweep's failures."""

from __future__ import annotations

import shlex
import traceback
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from runner.config.rewritten import as_given
from runner.execution.errors import DivergenceError, UserError, counted, one_sentence
from runner.files.atomic_files import read_json

CHAINS_MET_NAN = "NotANumberError"
"""The one error of this kind in files of earlier versions, which do not say whether a run diverged."""

LEFT_TO_OTHERS = 3
"""Exit status of a command that left runs to other processes, which have not ended them yet."""


@dataclass(frozen=True)
class Failure:
    """Why runs of one job failed.

    Attributes:
        overrides: what the job was, as overrides of the configuration.
        runs: run id of each seed that failed.
        error: the exception's type.
        message: its message on one line.
        tail: last lines of its traceback.
        command: what repeats these runs.
        diverged: whether they will fail again, since their numbers became NaN, infinite or too large.
    """

    overrides: tuple[str, ...]
    runs: dict[int, str]
    error: str
    message: str
    tail: tuple[str, ...]
    command: str
    diverged: bool = False

    @classmethod
    def of(
        cls,
        error: BaseException,
        overrides: Sequence[str],
        runs: dict[int, str],
        repeat: Sequence[int] = (),
    ) -> Failure:
        """The failure that `error` was, for the runs of some seeds; `repeat`: which seeds repeat them."""
        lines, overrides = traceback.format_exception(error), as_given(overrides)
        tail = [line for part in lines for line in part.rstrip().splitlines()][-12:]
        if isinstance(error, UserError):
            tail = [one_sentence(error)]
        return cls(
            overrides=tuple(overrides),
            runs=runs,
            error=type(error).__name__,
            message=one_sentence(error),
            tail=tuple(tail),
            command=command(overrides, repeat or list(runs)),
            diverged=isinstance(error, DivergenceError),
        )

    def to_json(self) -> dict[str, Any]:
        """For failure.json."""
        return {**asdict(self), "status": "failed"}

    @classmethod
    def read(cls, path: Path) -> Failure | None:
        """The failure in a failure.json; None where there is none that can be read."""
        content = read_json(path) or {}
        try:
            return cls(
                overrides=tuple(content["overrides"]),
                runs={int(seed): str(run_id) for seed, run_id in content["runs"].items()},
                tail=tuple(content["tail"]),
                **{key: str(content[key]) for key in ("error", "message", "command")},
                diverged=bool(content.get("diverged", content["error"] == CHAINS_MET_NAN)),
            )
        except (KeyError, ValueError, TypeError, AttributeError):
            return None


@dataclass
class Outcome:
    """The outcome of the runs of one job, or of many.

    Attributes:
        done: ids of the runs that were computed to their end.
        skipped: ids of those that were done before.
        locked: ids of those that another process is computing.
        failures: what failed.
        interrupted: what told workers to stop, in words; empty where nothing did.
        places: sentences that say where the results can be seen besides the disk.
        cut_short: ids of the runs of interrupted jobs that are not done.
        unbegun: ids of runs that were not begun, since one before them failed (``sweep.fail_fast``).
    """

    done: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    locked: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    interrupted: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    cut_short: list[str] = field(default_factory=list)
    unbegun: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Adds another job's outcome to this one."""
        self.done += other.done
        self.skipped += other.skipped
        self.locked += other.locked
        self.failures += other.failures
        self.interrupted = list(dict.fromkeys([*self.interrupted, *other.interrupted]))
        self.cut_short += other.cut_short
        self.places = list(dict.fromkeys([*self.places, *other.places]))

    def move_to_done(self, run_ids: Collection[str]) -> None:
        """Counts these runs, which a job that was launched again has found done, as what the command did."""
        self.done += [run_id for run_id in self.skipped if run_id in run_ids]
        self.skipped = [run_id for run_id in self.skipped if run_id not in run_ids]

    @property
    def status(self) -> int:
        """The exit status: 1 if a run failed, 3 if other processes still compute runs, 0 if all are done."""
        return 1 if self.failures else LEFT_TO_OTHERS if self.locked else 0

    @property
    def failed(self) -> int:
        """Number of runs that failed."""
        return sum(len(failure.runs) for failure in self.failures)

    def sentence(self) -> str:
        """``18 runs done, 2 skipped (done before), 1 failed.``"""
        parts = [f"{counted(len(self.done), 'run')} done"]
        parts += [f"{len(self.skipped)} skipped (done before)"] if self.skipped else []
        parts += [f"{len(self.locked)} left to another process"] if self.locked else []
        parts += [f"{len(self.cut_short)} interrupted"] if self.cut_short else []
        parts += [f"{self.failed} failed"] if self.failures else []
        parts += [f"{len(self.unbegun)} not begun (sweep.fail_fast)"] if self.unbegun else []
        return ", ".join(parts) + "."


def command(overrides: Sequence[str], seeds: Sequence[int]) -> str:
    """The command that computes the runs of these seeds of a job."""
    chosen = [override for override in overrides if not override.startswith("seed=")]
    seed = f"seed={seeds[0]}" if len(seeds) == 1 else f"seed=[{','.join(map(str, seeds))}]"
    return shlex.join(["python", "-m", "runner", *chosen, seed])


def failures_in_words(failures: Iterable[Failure]) -> str:
    """Every failure: the overrides, the last three lines, and the command that repeats it."""
    blocks = []
    for failure in failures:
        seeds = ", ".join(map(str, failure.runs))
        of = f"seed{'s' * (len(failure.runs) > 1)} {seeds}"
        lines = [f"failed: {' '.join(failure.overrides)} ({of})"]
        lines += [f"    {line}" for line in failure.tail[-3:]]
        blocks.append("\n".join([*lines, f"  repeat: {failure.command}"]))
    return "\n".join(blocks)
